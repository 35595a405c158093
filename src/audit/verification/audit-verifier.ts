import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { Transactions } from '../../platform/database/transactions.js';
import { isGenuine } from '../chain/audit-chain.js';
import { AuditChainRepository } from '../chain/audit-chain.repository.js';
import { AuditKeys } from '../chain/audit-keys.js';
import { WriterTally } from './writer-tally.js';
import { AuditVerifyRepository } from './audit-verify.repository.js';
import { lastAcceptedAt } from '../anchor/accept-head.js';
import { AuditWitness, type Testimony } from '../anchor/audit-witness.js';
import { faultOfEnd } from '../chain/chain-head.js';
import { SealWalk } from './seal-walk.js';
import { BEFORE_ALL } from '../chain/sealing-round.js';

export interface Verification {
  readonly valid: boolean;
  /** Sealed rows that were found in order, up to the first one that was not. */
  readonly checked: number;
  /** Rows that wait for the sealer. More rows than a few seconds bring mean that it does not run. */
  readonly unsealed: number;
  /** Checked rows whose key was lost. They are as they were when the key was given up; nobody knows of the time before. */
  readonly taken_over?: number;
  readonly first_invalid_id?: string;
  /** The chain does not lead through a head that was seen before. */
  readonly head_rewound?: true;
  /** Rows that had been committed and were removed before they had a seal. */
  readonly missing?: number;
}

interface Walk {
  readonly count: number;
  readonly invalidId?: string;
}

interface SealedWalk extends Walk {
  readonly takenOver: number;
}

/** Checks the whole trail, page by page, so that it needs the memory of one page. */
@Injectable()
export class AuditVerifier {
  private readonly seals: SealWalk;
  private foundInvalidAt = 0;

  constructor(
    private readonly transactions: Transactions,
    private readonly chain: AuditChainRepository,
    private readonly records: AuditVerifyRepository,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
    private readonly clock: Clock,
  ) {
    this.seals = new SealWalk(records, keys);
  }

  /** The last verification of this process found something wrong, and nobody has accepted the trail since. */
  get foundInvalid(): boolean {
    return this.foundInvalidAt > this.witness.acceptedAt;
  }

  async verify(): Promise<Verification> {
    // Taken before the snapshot: what was seen by now has to be in it.
    const testimony = this.witness.testimony();
    const found = await this.transactions.snapshot((manager) => this.look(manager, testimony));
    this.foundInvalidAt = found.valid ? 0 : this.clock.now().getTime();
    return found;
  }

  private async look(manager: EntityManager, { head, writers }: Testimony): Promise<Verification> {
    const end = await this.chain.readEnd(manager);
    const fault = faultOfEnd(end, this.keys.chain);
    const acceptedAt = await lastAcceptedAt(manager, this.chain, this.keys);
    const tally = new WriterTally();
    const seals = await this.walkSeals(manager, tally);
    const sealedTo = end.restored ? null : (end.head?.sealedTo ?? null);
    const rest = await this.walkUnsealed(manager, sealedTo, tally);
    const invalidId = seals.invalidId ?? rest.invalidId;
    const rewound =
      head.at.getTime() > acceptedAt && !(await this.chain.leadsThrough(manager, head));
    // After a fault nothing is counted: a changed row is not missing, and a walk that stopped has not seen all rows.
    const missing = invalidId === undefined ? tally.missing(writers, acceptedAt) : 0;
    return {
      valid: fault === undefined && invalidId === undefined && !rewound && missing === 0,
      checked: seals.count,
      unsealed: rest.count,
      taken_over: seals.takenOver || undefined,
      first_invalid_id: invalidId,
      head_rewound: rewound || undefined,
      missing: missing || undefined,
    };
  }

  private async walkSeals(manager: EntityManager, tally: WriterTally): Promise<SealedWalk> {
    let count = 0;
    let takenOver = 0;
    for await (const page of this.seals.pages(manager)) {
      for (const { seal, verdict } of page) {
        if (verdict !== 'genuine' && verdict !== 'taken_over') {
          return { count, takenOver, invalidId: seal.auditId };
        }
        tally.add(seal.row!);
        count += 1;
        if (verdict === 'taken_over') takenOver += 1;
      }
    }
    return { count, takenOver };
  }

  private async walkUnsealed(
    manager: EntityManager,
    sealedTo: string | null,
    tally: WriterTally,
  ): Promise<Walk> {
    let count = 0;
    let invalidId: string | undefined;
    for (let afterId = BEFORE_ALL.id; ;) {
      const page = await this.chain.pageById(manager, afterId);
      const last = page.at(-1);
      if (!last) return { count, invalidId };
      afterId = last.id;
      const ids = page.filter(({ sealed }) => !sealed).map(({ id }) => id);
      if (ids.length === 0) continue;
      for (const row of await this.records.unsealedAmong(manager, ids, sealedTo)) {
        count += 1;
        tally.add(row);
        if (row.overdue || !isGenuine(row, this.keys.rows)) invalidId ??= row.id;
      }
    }
  }
}
