import { Injectable } from '@nestjs/common';
import { type Tx, Transactions } from '../../platform/database/transactions.js';
import { GENESIS, nextSeal, type SealedPoint } from './audit-chain.js';
import {
  AuditChainRepository,
  PAGE_ROWS,
  type PageRow,
  type Seal,
} from './audit-chain.repository.js';
import { AuditKeys } from './audit-keys.js';
import { AuditWitness } from '../anchor/audit-witness.js';
import { faultOfEnd, signHead } from './chain-head.js';
import { progressAfter, type SealingRound, roundAt } from './sealing-round.js';

/** Somebody changed the chain. To continue it would put the service's signature on that change. */
export class BrokenChainError extends Error {
  constructor(fault: string) {
    super(
      `The audit chain is broken, and sealing has stopped: ${fault}. GET /api/audit/verify says more.`,
    );
    this.name = new.target.name;
  }
}

/** `elsewhere`: another sealer holds the head. */
export type SealingResult = 'more' | 'done' | 'elsewhere';

/**
 * Adds the rows that were committed since its last look to the chain. Writers wait neither for it nor for each other,
 * because the order of the chain is decided here, afterwards. docs/adr/0006-audit-chain.md says how it finds each row
 * exactly once.
 */
@Injectable()
export class AuditSealer {
  constructor(
    private readonly transactions: Transactions,
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
  ) {}

  /** Seals one page, in a transaction of its own. */
  async sealPage(): Promise<SealingResult> {
    const sealed = await this.transactions.run((tx) => this.sealIn(tx));
    if (sealed === undefined) return 'elsewhere';
    this.witness.sawHead(sealed.point);
    return sealed.more ? 'more' : 'done';
  }

  private async sealIn(tx: Tx): Promise<{ point: SealedPoint; more: boolean } | undefined> {
    const locked = await this.chain.lockHead(tx);
    const end = await this.chain.readEnd(tx);
    if (!locked && end.head) return undefined;
    const fault = faultOfEnd(end, this.keys.chain);
    if (fault !== undefined) throw new BrokenChainError(fault);
    await this.witness.compareWith(tx, end);

    const round = roundAt(end);
    const page = await this.chain.pageOf(tx, round);
    const start: SealedPoint = end.head ?? GENESIS;
    if (page.length === 0 && !round.unfinished) return { point: start, more: false };
    if (!locked && !(await this.beginHead(tx, round))) return undefined;
    const { seals, point } = this.sealsOf(page, start);
    const more = page.length === PAGE_ROWS;
    if (seals.length > 0) {
      await this.chain.insertSeals(tx, start.seq, seals, this.keys.chain.first.id);
    }
    const progress = progressAfter(round, more ? page.at(-1) : undefined);
    await this.chain.writeHead(tx, signHead(this.keys.chain.first, point, progress));
    return { point: { seq: point.seq, hash: point.hash }, more };
  }

  private sealsOf(page: readonly PageRow[], start: SealedPoint) {
    const { key } = this.keys.chain.first;
    const seals: Seal[] = [];
    let point = start;
    for (const row of page) {
      // A row that is sealed already: in a restored database transaction ids are used a second time.
      if (row.sealed) continue;
      point = nextSeal(key, point, row);
      seals.push({ auditId: row.id, hash: point.hash });
    }
    return { seals, point };
  }

  private async beginHead(tx: Tx, { cluster }: SealingRound): Promise<boolean> {
    const nothing = { cluster, sealedTo: null, sealingTo: null, after: null };
    return await this.chain.beginHead(tx, signHead(this.keys.chain.first, GENESIS, nothing));
  }
}
