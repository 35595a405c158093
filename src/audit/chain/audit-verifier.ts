import type { EntityManager } from 'typeorm';
import { Injectable, Logger } from '@nestjs/common';
import { Transactions } from '../../platform/database/transactions.js';
import { Clock } from '../../platform/clock.js';
import type { AuditVerificationDto } from '../audit.dto.js';
import {
  AuditKeys,
  BEFORE_ALL,
  faultOfEnd,
  faultOfSeal,
  GENESIS,
  isGenuine,
} from './audit-chain.js';
import { AuditChainRepository } from './audit-chain.repository.js';
import { AuditWitness, lastAcceptedAt } from './audit-witness.js';

interface Walk {
  readonly count: number;
  readonly invalidId?: string;
}

/** Verifies the whole trail page by page, so that only one page is in memory. */
@Injectable()
export class AuditVerifier {
  private readonly log = new Logger(AuditVerifier.name);

  constructor(
    private readonly transactions: Transactions,
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
    private readonly clock: Clock,
  ) {}

  /** True if the last verification of any replica found a fault that was not accepted later. */
  async foundInvalid(manager: EntityManager): Promise<boolean> {
    const at = (await this.chain.readHead(manager))?.found_invalid_at;
    return at ? at.getTime() > this.witness.acceptedAt : false;
  }

  async verify(): Promise<AuditVerificationDto> {
    // Read before the snapshot, so that the snapshot contains the head.
    const { head } = this.witness;
    const found = await this.transactions.snapshot((manager) => this.verifyIn(manager, head));
    await this.storeFinding(found.valid ? null : this.clock.now());
    return found;
  }

  /** Stores the result. A failure is no error, because a read-only database can be verified too. */
  private async storeFinding(found_invalid_at: Date | null): Promise<void> {
    try {
      await this.transactions.run((tx) => this.chain.writeHead(tx, { found_invalid_at }));
    } catch (error) {
      this.log.warn(error, 'The result of a verification of the audit trail was not stored');
    }
  }

  private async verifyIn(
    manager: EntityManager,
    head: AuditWitness['head'],
  ): Promise<AuditVerificationDto> {
    const end = await this.chain.readEnd(manager);
    const fault = faultOfEnd(end, this.keys.chain);
    const acceptedAt = await lastAcceptedAt(manager, this.chain, this.keys);
    const seals = await this.walkSeals(manager);
    const sealedTo = end.restored ? null : (end.head?.sealed_to ?? null);
    const rest = await this.walkUnsealed(manager, sealedTo);
    const invalidId = seals.invalidId ?? rest.invalidId;
    const rewound =
      head.at.getTime() > acceptedAt && !(await this.chain.containsSeal(manager, head));
    return {
      valid: fault === undefined && invalidId === undefined && !rewound,
      checked: seals.count,
      unsealed: rest.count,
      first_invalid_id: invalidId,
      head_rewound: rewound || undefined,
    };
  }

  private async walkSeals(manager: EntityManager): Promise<Walk> {
    const findKey = this.keys.finder(await this.chain.retiredKeys(manager));
    let previous = GENESIS;
    for (;;) {
      const page = await this.chain.sealsAfter(manager, previous.seq);
      if (page.length === 0) return { count: Number(previous.seq) };
      for (const seal of page) {
        if (faultOfSeal(findKey, previous, seal) !== undefined) {
          return { count: Number(previous.seq), invalidId: seal.audit_id };
        }
        previous = seal;
      }
    }
  }

  private async walkUnsealed(manager: EntityManager, sealedTo: string | null): Promise<Walk> {
    let count = 0;
    let invalidId: string | undefined;
    for (let afterId = BEFORE_ALL.id; ;) {
      const page = await this.chain.pageById(manager, afterId);
      const last = page.at(-1);
      if (!last) return { count, invalidId };
      afterId = last.id;
      const ids = page.filter(({ sealed }) => !sealed).map(({ id }) => id);
      if (ids.length === 0) continue;
      for (const row of await this.chain.unsealedAmong(manager, ids, sealedTo)) {
        count += 1;
        if (row.overdue || !isGenuine(row, this.keys.rows)) invalidId ??= row.id;
      }
    }
  }
}
