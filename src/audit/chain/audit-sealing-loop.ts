import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { reportFailure } from '../../platform/concurrency/background-loop.js';
import { AuditAnchor } from '../anchor/audit-anchor.js';
import { AuditBacklog } from './audit-backlog.js';
import { AuditKeys } from './audit-keys.js';
import { AuditSealer, BrokenChainError } from './audit-sealer.js';
import { AuditWitness } from '../anchor/audit-witness.js';
import { loggedHead } from '../anchor/logged-head.js';

const EVERY_MS = 1_000;
const LOOK_AT_BACKLOG_EVERY_MS = 30_000;
const LOG_HEAD_EVERY_MS = 5 * 60_000;

/** Pages that are sealed before the loop looks at the time again; they delay a stop by a few seconds at most. */
const PAGES_AT_ONCE = 100;

/** Runs the sealer once a second, and writes the end of the chain to file and log, outside the database. */
@Injectable()
export class AuditSealingLoop implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(AuditSealingLoop.name);
  private readonly stop = new AbortController();
  private running: Promise<void> | undefined;
  private lastFailure: Error | undefined;
  private logged = '';

  constructor(
    private readonly sealer: AuditSealer,
    private readonly witness: AuditWitness,
    private readonly anchor: AuditAnchor,
    private readonly backlog: AuditBacklog,
    private readonly keys: AuditKeys,
  ) {}

  /** In words, what somebody changed in the chain, so that it is not continued; undefined while nothing is known of it. */
  get broken(): string | undefined {
    return this.lastFailure instanceof BrokenChainError ? this.lastFailure.message : undefined;
  }

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  /** Requests have ended by now. What they recorded last is sealed before the process ends. */
  async onApplicationShutdown(): Promise<void> {
    if (!this.running) return;
    this.stop.abort();
    await this.running;
    await this.sealPending();
    this.logHead();
  }

  private async run(): Promise<void> {
    await this.anchor.tellWitness();
    let headDue = performance.now();
    let backlogDue = headDue + LOOK_AT_BACKLOG_EVERY_MS;
    while (!this.stop.signal.aborted) {
      await this.sealPending();
      if (performance.now() >= headDue) {
        this.logHead();
        headDue = performance.now() + LOG_HEAD_EVERY_MS;
      }
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

  /** A session that holds the end of the chain stops the sealing on all replicas, without an error on any of them. */
  private async warnOfBacklog(): Promise<void> {
    try {
      const late = await this.backlog.lateness(await this.backlog.waiting());
      if (late !== undefined) this.logger.error(`Audit rows wait to be sealed: ${late}.`);
    } catch {
      // The database cannot be reached, which the sealer reports.
    }
  }

  /** Logs a failure once, and not every second for as long as it lasts. */
  private report(failure: Error): void {
    if (failure.message !== this.lastFailure?.message) {
      if (failure instanceof BrokenChainError) this.logger.error(failure.message);
      else reportFailure(this.logger, 'Sealing the audit trail', failure);
    }
    this.lastFailure = failure;
  }

  /** Useful when the log is kept where administrators of the database have no access: see `npm run audit -- check-head`. */
  private logHead(): void {
    const line = loggedHead(this.witness.head, this.keys);
    if (line !== this.logged) this.logger.log(line);
    this.logged = line;
  }
}
