import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  AuditChainRepository,
  PAGE_ROWS,
  type PageRow,
  type Seal,
} from './audit-chain.repository.js';
import { type Tx, Transactions } from '../../platform/database/transactions.js';
import {
  GENESIS,
  nextSeal,
  type SealedPoint,
  AuditKeys,
  faultOfEnd,
  signHead,
  type Progress,
  progressAfter,
  roundAt,
} from './audit-chain.js';
import { BackgroundLoop } from '../../platform/concurrency/background-loop.js';
import { AuditWitness } from './audit-witness.js';

/** The chain was altered. The sealer stops, because it would sign the alteration. */
export class BrokenChainError extends Error {
  constructor(fault: string) {
    super(
      `The audit chain is broken, and sealing has stopped: ${fault}. See GET /api/audit/verify.`,
    );
    this.name = new.target.name;
  }
}

/** `elsewhere`: another sealer holds the head. */
type SealingResult = 'more' | 'done' | 'elsewhere';

/**
 * Adds newly committed rows to the chain. Writers never wait for the sealer or for other writers, because the sealer orders the
 * rows afterwards. docs/adr/0006-audit-chain.md explains how the sealer finds each row exactly once.
 */
@Injectable()
export class AuditSealer {
  constructor(
    private readonly transactions: Transactions,
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
  ) {}

  async sealPage(): Promise<SealingResult> {
    const sealed = await this.transactions.run((tx) => this.sealIn(tx));
    if (sealed === undefined) return 'elsewhere';
    this.witness.recordHead(sealed.point);
    return sealed.more ? 'more' : 'done';
  }

  private async sealIn(tx: Tx): Promise<{ point: SealedPoint; more: boolean } | undefined> {
    const locked = await this.chain.lockHead(tx);
    const end = await this.chain.readEnd(tx);
    if (!locked && end.head) return undefined;
    const fault = faultOfEnd(end, this.keys.chain);
    if (fault !== undefined) throw new BrokenChainError(fault);
    await this.witness.compareChain(tx, end);

    const round = roundAt(end);
    const page = await this.chain.pageOf(tx, round);
    const start: SealedPoint = end.head ?? GENESIS;
    const { first } = this.keys.chain;
    // Writes the head of an unfinished round, of another cluster or of an older key even without new rows.
    const { sealing_to = null, key_id = first.id } = end.head ?? {};
    const isRecorded = !end.restored && sealing_to === null && key_id === first.id;
    if (page.length === 0 && isRecorded) return { point: start, more: false };
    if (!locked && !(await this.beginHead(tx, round))) return undefined;
    const { seals, point } = this.sealsOf(page, start);
    const more = page.length === PAGE_ROWS;
    if (seals.length > 0) {
      await this.chain.insertSeals(tx, start.seq, seals, first.id);
    }
    const progress = progressAfter(round, more ? page.at(-1) : undefined);
    await this.chain.writeHead(tx, signHead(first, point, progress));
    return { point, more };
  }

  private sealsOf(page: readonly PageRow[], start: SealedPoint) {
    const { key } = this.keys.chain.first;
    const seals: Seal[] = [];
    let point = start;
    for (const row of page) {
      // The row is already sealed, because a restored database uses transaction ids again.
      if (row.sealed) continue;
      point = nextSeal(key, point, row);
      seals.push({ audit_id: row.id, hash: point.hash });
    }
    return { seals, point };
  }

  private async beginHead(tx: Tx, round: Progress): Promise<boolean> {
    const nothing = progressAfter({ ...round, sealing_to: null });
    return await this.chain.beginHead(tx, signHead(this.keys.chain.first, GENESIS, nothing));
  }
}

const EVERY_MS = 1_000;

/** Maximum pages without a pause. These pages delay a shutdown by a few seconds at most. */
const PAGES_AT_ONCE = 100;

/** Runs the sealer once per second, and writes the end of the chain to the anchor file. */
@Injectable()
export class AuditSealingLoop implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(AuditSealingLoop.name);
  private readonly loop = new BackgroundLoop(
    { task: 'Sealing the audit trail', log: this.logger, pauseMs: EVERY_MS },
    () => this.sealPending(),
  );
  private started = false;
  /** Fault of the chain that stopped the sealer. */
  broken: string | undefined;

  constructor(
    private readonly sealer: AuditSealer,
    private readonly witness: AuditWitness,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.witness.load();
    this.started = true;
    this.loop.start();
  }

  /** Seals the last records, because all requests have ended. After a failure, the next start seals the remaining records. */
  async onApplicationShutdown(): Promise<void> {
    if (!this.started) return;
    await this.loop.stop();
    await this.sealPending().catch(() => undefined);
  }

  private async sealPending(): Promise<void> {
    try {
      for (let page = 0; page < PAGES_AT_ONCE; page += 1) {
        if ((await this.sealer.sealPage()) !== 'more') break;
      }
      this.broken = undefined;
    } catch (error) {
      if (!(error instanceof BrokenChainError)) throw error;
      if (error.message !== this.broken) this.logger.error(error.message);
      this.broken = error.message;
    } finally {
      await this.witness.save();
    }
  }
}
