import { Injectable, Logger } from '@nestjs/common';
import { type Tx, Transactions } from '../database/transactions.js';
import { GENESIS, nextSeal, sameBytes, type SealedPoint } from './audit-chain.js';
import { AuditChainRepository, PAGE_ROWS, type Seal } from './audit-chain.repository.js';
import { AuditKeys } from './audit-keys.js';
import { type ChainEnd, faultOf, signHead } from './chain-head.js';
import { progressAfter, roundAt } from './sealing-round.js';

/** Sealing on would lend the service's signature to what somebody did to the chain. */
export class BrokenChainError extends Error {
  constructor(fault: string) {
    super(
      `The audit chain is broken, and sealing has stopped: ${fault}. GET /api/audit/verify says more.`,
    );
    this.name = new.target.name;
  }
}

export type SealingResult = 'more' | 'done' | 'elsewhere';

/**
 * Chains the rows that committed since it last looked. Writers neither wait for it nor for each other: the order of the
 * chain is settled here, afterwards. How it finds each row exactly once is in docs/adr/0006-audit-chain.md.
 */
@Injectable()
export class AuditSealer {
  private readonly logger = new Logger(AuditSealer.name);
  private seen: SealedPoint = GENESIS;

  constructor(
    private readonly transactions: Transactions,
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
  ) {}

  /** The end of the chain as this process last sealed or saw it. */
  get head(): SealedPoint {
    return this.seen;
  }

  /** One page, in a transaction of its own. */
  async sealPage(): Promise<SealingResult> {
    const sealed = await this.transactions.run((tx) => this.sealIn(tx));
    if (sealed === undefined) return 'elsewhere';
    this.seen = sealed.point;
    return sealed.more ? 'more' : 'done';
  }

  private async sealIn(tx: Tx): Promise<{ point: SealedPoint; more: boolean } | undefined> {
    if (!(await this.chain.tryLock(tx))) return undefined;
    const end = await this.chain.readEnd(tx);
    this.check(end);
    const round = roundAt(end);
    const page = await this.chain.pageOf(tx, round);
    const start: SealedPoint = end.head ?? GENESIS;
    if (page.length === 0 && !round.unfinished) return { point: start, more: false };

    const { id: keyId, key } = this.keys.chain.first;
    const seals: Seal[] = [];
    let point = start;
    for (const row of page) {
      // Sealed already: only in a restored database do transaction ids come round again.
      if (row.sealed) continue;
      point = nextSeal(key, point, row);
      seals.push({ auditId: row.id, hash: point.hash });
    }
    const more = page.length === PAGE_ROWS;
    if (seals.length > 0) await this.chain.insertSeals(tx, start.seq, seals, keyId);
    const progress = progressAfter(round, more ? page.at(-1) : undefined);
    await this.chain.writeHead(tx, signHead(this.keys.chain.first, point, progress));
    return { point: { seq: point.seq, hash: point.hash }, more };
  }

  private check(end: ChainEnd): void {
    const fault = faultOf(end, this.keys.chain);
    if (fault !== undefined) throw new BrokenChainError(fault);
    const { seq, hash } = end.head ?? GENESIS;
    if (seq < this.seen.seq || (seq === this.seen.seq && !sameBytes(hash, this.seen.hash))) {
      // A whole but older chain is what a restored backup looks like, too: said aloud, for a person to judge.
      this.logger.error(
        `The audit chain went back: it ended at ${describe(this.seen)} and now ends at ${describe({ seq, hash })}.`,
      );
    }
  }
}

export function describe({ seq, hash }: SealedPoint): string {
  return `${seq} ${hash.toString('hex')}`;
}
