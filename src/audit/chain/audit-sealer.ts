import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { Clock } from '../../platform/clock.js';
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
  progressAfter,
  type SealingRound,
  roundAt,
} from './audit-chain.js';
import { reportFailure } from '../../platform/concurrency/background-loop.js';
import { AuditAnchor, AuditWitness } from './audit-witness.js';

/** Rows are normally sealed within 1 s, later after a long transaction or a backlog. */
const LATE_SECONDS = 60;

export interface Waiting {
  readonly unsealed: number;
  readonly oldestSeconds: number;
}

/** Number of rows that wait to be sealed, and their age. */
@Injectable()
export class AuditBacklog {
  constructor(
    private readonly dataSource: DataSource,
    private readonly chain: AuditChainRepository,
    private readonly clock: Clock,
  ) {}

  async waiting(): Promise<Waiting> {
    const { unsealed, oldest } = await this.chain.backlog(this.dataSource.manager);
    const age = oldest ? (this.clock.now().getTime() - oldest.getTime()) / 1000 : 0;
    return { unsealed, oldestSeconds: Math.max(0, Math.floor(age)) };
  }

  /** Message if rows have waited longer than LATE_SECONDS; otherwise `undefined`. */
  lateness({ oldestSeconds }: Waiting): string | undefined {
    if (oldestSeconds <= LATE_SECONDS) return undefined;
    return `the oldest unsealed audit entry is ${oldestSeconds} s old`;
  }
}

/** The chain was altered. Continuing it would sign the alteration. */
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
 * Adds newly committed rows to the chain. Writers wait neither for the sealer nor for each other, because it decides
 * the order of the chain afterwards. docs/adr/0006-audit-chain.md explains how it finds each row exactly once.
 */
@Injectable()
export class AuditSealer {
  constructor(
    private readonly transactions: Transactions,
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
  ) {}

  /** Seals one page in its own transaction. */
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
      // The row is already sealed: a restored database uses transaction ids a second time.
      if (row.sealed) continue;
      point = nextSeal(key, point, row);
      seals.push({ audit_id: row.id, hash: point.hash });
    }
    return { seals, point };
  }

  private async beginHead(tx: Tx, { cluster }: SealingRound): Promise<boolean> {
    const nothing = progressAfter({ cluster, from: null, to: null });
    return await this.chain.beginHead(tx, signHead(this.keys.chain.first, GENESIS, nothing));
  }
}

const EVERY_MS = 1_000;
const LOOK_AT_BACKLOG_EVERY_MS = 30_000;

/** Pages to seal without a pause. They delay a shutdown by a few seconds at most. */
const PAGES_AT_ONCE = 100;

/** Runs the sealer once per second, and writes the end of the chain to the anchor file. */
@Injectable()
export class AuditSealingLoop implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(AuditSealingLoop.name);
  private readonly stop = new AbortController();
  private running: Promise<void> | undefined;
  private lastFailure: Error | undefined;

  constructor(
    private readonly sealer: AuditSealer,
    private readonly anchor: AuditAnchor,
    private readonly backlog: AuditBacklog,
  ) {}

  /** Message if the chain was altered and sealing has stopped; otherwise `undefined`. */
  get broken(): string | undefined {
    return this.lastFailure instanceof BrokenChainError ? this.lastFailure.message : undefined;
  }

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  /** Requests have ended by now. Seals their last records before the process ends. */
  async onApplicationShutdown(): Promise<void> {
    if (!this.running) return;
    this.stop.abort();
    await this.running;
    await this.sealPending();
  }

  private async run(): Promise<void> {
    await this.anchor.tellWitness();
    let backlogDue = performance.now() + LOOK_AT_BACKLOG_EVERY_MS;
    while (!this.stop.signal.aborted) {
      await this.sealPending();
      if (performance.now() >= backlogDue) {
        await this.warnOfBacklog();
        backlogDue = performance.now() + LOOK_AT_BACKLOG_EVERY_MS;
      }
      await sleep(EVERY_MS, undefined, { signal: this.stop.signal, ref: false }).catch(
        () => undefined,
      );
    }
  }

  private async sealPending(): Promise<void> {
    try {
      for (let page = 0; page < PAGES_AT_ONCE; page += 1) {
        if ((await this.sealer.sealPage()) !== 'more') break;
      }
      this.lastFailure = undefined;
    } catch (error) {
      this.report(error instanceof Error ? error : new Error(String(error)));
    }
    await this.anchor.write();
  }

  /** A session that locks the head stops sealing on all replicas without an error. */
  private async warnOfBacklog(): Promise<void> {
    try {
      const late = this.backlog.lateness(await this.backlog.waiting());
      if (late !== undefined) this.logger.error(`Audit rows wait to be sealed: ${late}.`);
    } catch {
      // The database cannot be reached, which the sealer reports.
    }
  }

  /** Logs a failure once, not every second. */
  private report(failure: Error): void {
    if (failure.message !== this.lastFailure?.message) {
      if (failure instanceof BrokenChainError) this.logger.error(failure.message);
      else reportFailure(this.logger, 'Sealing the audit trail', failure);
    }
    this.lastFailure = failure;
  }
}
