import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GENESIS, nextSeal, rowMac, sameBytes, type SealedPoint } from './audit-chain.js';
import { AuditChainRepository } from './audit-chain.repository.js';
import type { AuditRow } from './audit-entry.js';
import { AuditKeys } from './audit-keys.js';
import { AuditVerifyRepository, type SealedRow } from './audit-verify.repository.js';
import { faultOf } from './chain-head.js';
import { BEFORE_ALL } from './sealing-round.js';

export interface Verification {
  readonly valid: boolean;
  /** Sealed rows that were found in order, up to the first that was not. */
  readonly checked: number;
  /** Rows that wait for the sealer; more than a few seconds' worth means that it does not run. */
  readonly unsealed: number;
  readonly first_invalid_id?: string;
}

interface Walk {
  readonly count: number;
  readonly invalidId?: string;
}

/** Goes through everything in pages: the memory it takes is that of one page. */
@Injectable()
export class AuditVerifier {
  constructor(
    private readonly dataSource: DataSource,
    private readonly chain: AuditChainRepository,
    private readonly records: AuditVerifyRepository,
    private readonly keys: AuditKeys,
  ) {}

  async verify(): Promise<Verification> {
    // First the end, then what leads to it: rows that are sealed meanwhile are beyond it, and of no concern.
    const end = await this.chain.readEnd(this.dataSource.manager);
    const fault = faultOf(end, this.keys.chain);
    const seals = await this.walkSeals(end.lastSeal.seq);
    const rest = await this.walkUnsealed(end.restored ? null : (end.head?.sealedTo ?? null));
    const invalidId = seals.invalidId ?? rest.invalidId;
    return {
      valid: fault === undefined && invalidId === undefined,
      checked: seals.count,
      unsealed: rest.count,
      ...(invalidId !== undefined && { first_invalid_id: invalidId }),
    };
  }

  private async walkSeals(upTo: bigint): Promise<Walk> {
    let point = GENESIS;
    let count = 0;
    for (;;) {
      const page = await this.records.sealsAfter(point.seq, upTo);
      if (page.length === 0) return { count };
      for (const seal of page) {
        const next = this.follow(point, seal);
        if (!next) return { count, invalidId: seal.auditId };
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
    if (!named || !row || !this.isGenuine(row)) return undefined;
    const expected = nextSeal(named.key, previous, row);
    return seq === expected.seq && sameBytes(hash, expected.hash) ? expected : undefined;
  }

  private async walkUnsealed(sealedTo: string | null): Promise<Walk> {
    let count = 0;
    let invalidId: string | undefined;
    for (let afterId = BEFORE_ALL.id; ;) {
      const page = await this.chain.pageById(this.dataSource.manager, afterId);
      const last = page.at(-1);
      if (!last) return { count, ...(invalidId !== undefined && { invalidId }) };
      afterId = last.id;
      const ids = page.filter(({ sealed }) => !sealed).map(({ id }) => id);
      if (ids.length === 0) continue;
      for (const row of await this.records.unsealedAmong(ids, sealedTo)) {
        count += 1;
        if (row.overdue || !this.isGenuine(row)) invalidId ??= row.id;
      }
    }
  }

  private isGenuine(row: AuditRow): boolean {
    const named = this.keys.rows.find(row.key_id);
    return named !== undefined && sameBytes(row.mac, rowMac(named.key, row));
  }
}
