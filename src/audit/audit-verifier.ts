import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../common/clock.js';
import { Transactions } from '../database/transactions.js';
import { GENESIS, isGenuine, nextSeal, sameBytes, type SealedPoint } from './audit-chain.js';
import { AuditChainRepository } from './audit-chain.repository.js';
import { AuditKeys } from './audit-keys.js';
import { AuditTally } from './audit-tally.js';
import { AuditVerifyRepository, type SealedRow } from './audit-verify.repository.js';
import { AuditWitness, type Testimony } from './audit-witness.js';
import { faultOf } from './chain-head.js';
import { BEFORE_ALL } from './sealing-round.js';

export interface Verification {
  readonly valid: boolean;
  /** Sealed rows that were found in order, up to the first that was not. */
  readonly checked: number;
  /** Rows that wait for the sealer; more than a few seconds' worth means that it does not run. */
  readonly unsealed: number;
  readonly first_invalid_id?: string;
  /** The chain does not lead through a head that was seen before. */
  readonly head_rewound?: true;
  /** Rows that had committed and are gone without a seal. */
  readonly missing?: number;
}

interface Walk {
  readonly count: number;
  readonly invalidId?: string;
}

/** Goes through everything in pages: the memory it takes is that of one page. */
@Injectable()
export class AuditVerifier {
  private foundInvalidAt = 0;

  constructor(
    private readonly transactions: Transactions,
    private readonly chain: AuditChainRepository,
    private readonly records: AuditVerifyRepository,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
    private readonly clock: Clock,
  ) {}

  /** The last verification of this process found something wrong, and nobody has accepted the trail since. */
  get foundInvalid(): boolean {
    return this.foundInvalidAt > this.witness.acceptedAt;
  }

  async verify(): Promise<Verification> {
    // Before the moment that is looked at: what was seen by now has to be there then.
    const testimony = this.witness.testimony();
    const found = await this.transactions.snapshot((manager) => this.look(manager, testimony));
    this.foundInvalidAt = found.valid ? 0 : this.clock.now().getTime();
    return found;
  }

  private async look(manager: EntityManager, { head, writers }: Testimony): Promise<Verification> {
    const end = await this.chain.readEnd(manager);
    const fault = faultOf(end, this.keys.chain);
    const acceptedAt = await this.acceptedAt(manager);
    const tally = new AuditTally();
    const seals = await this.walkSeals(manager, tally);
    const sealedTo = end.restored ? null : (end.head?.sealedTo ?? null);
    const rest = await this.walkUnsealed(manager, sealedTo, tally);
    const invalidId = seals.invalidId ?? rest.invalidId;
    const rewound =
      head.at.getTime() > acceptedAt && !(await this.witness.isHonoured(manager, head));
    // A row that is there and changed is not missing, and a walk that stopped has not counted to the end.
    const missing = invalidId === undefined ? tally.missing(writers, acceptedAt) : 0;
    return {
      valid: fault === undefined && invalidId === undefined && !rewound && missing === 0,
      checked: seals.count,
      unsealed: rest.count,
      ...(invalidId !== undefined && { first_invalid_id: invalidId }),
      ...(rewound && { head_rewound: true }),
      ...(missing > 0 && { missing }),
    };
  }

  private async acceptedAt(manager: EntityManager): Promise<number> {
    const row = await this.chain.lastAcceptance(manager);
    return row && isGenuine(row, this.keys.rows) ? row.at.getTime() : 0;
  }

  private async walkSeals(manager: EntityManager, tally: AuditTally): Promise<Walk> {
    let point = GENESIS;
    let count = 0;
    for (;;) {
      const page = await this.records.sealsAfter(manager, point.seq);
      if (page.length === 0) return { count };
      for (const seal of page) {
        const next = this.follow(point, seal);
        if (!next) return { count, invalidId: seal.auditId };
        tally.add(seal.row!);
        point = next;
        count += 1;
      }
    }
  }

  /** The point that the seal makes, when it and its row are as they were written. */
  private follow(
    previous: SealedPoint,
    { seq, hash, keyId, row }: SealedRow,
  ): SealedPoint | undefined {
    const named = this.keys.chain.find(keyId);
    if (!named || !row || !isGenuine(row, this.keys.rows)) return undefined;
    const expected = nextSeal(named.key, previous, row);
    return seq === expected.seq && sameBytes(hash, expected.hash) ? expected : undefined;
  }

  private async walkUnsealed(
    manager: EntityManager,
    sealedTo: string | null,
    tally: AuditTally,
  ): Promise<Walk> {
    let count = 0;
    let invalidId: string | undefined;
    for (let afterId = BEFORE_ALL.id; ;) {
      const page = await this.chain.pageById(manager, afterId);
      const last = page.at(-1);
      if (!last) return { count, ...(invalidId !== undefined && { invalidId }) };
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
