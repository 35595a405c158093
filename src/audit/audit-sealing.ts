import { setTimeout as sleep } from 'node:timers/promises';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { AuditSealer, describe } from './audit-sealer.js';

const EVERY_MS = 1_000;
const LOG_HEAD_EVERY_MS = 5 * 60_000;

/** A backlog is worked off between two looks at the clock, and delays a stop by no more than some seconds. */
const PAGES_AT_ONCE = 100;

/** Runs the sealer, and writes the end of the chain where no one with only the database can change it: to the log. */
@Injectable()
export class AuditSealing implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(AuditSealing.name);
  private readonly stop = new AbortController();
  private running: Promise<void> | undefined;
  private lastFailure: string | undefined;
  private logged = '';

  constructor(private readonly sealer: AuditSealer) {}

  onApplicationBootstrap(): void {
    this.running = this.run();
  }

  /** Requests are over by now: what they recorded last is sealed before the process ends. */
  async onApplicationShutdown(): Promise<void> {
    if (!this.running) return;
    this.stop.abort();
    await this.running;
    await this.sealPending();
    this.logHead();
  }

  private async run(): Promise<void> {
    let headDue = Date.now();
    while (!this.stop.signal.aborted) {
      await this.sealPending();
      if (Date.now() >= headDue) {
        this.logHead();
        headDue = Date.now() + LOG_HEAD_EVERY_MS;
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
      this.report(error instanceof Error ? error.message : String(error));
    }
  }

  /** Once, and not every second for as long as it lasts. */
  private report(failure: string): void {
    if (failure !== this.lastFailure) this.logger.error(`Audit rows wait to be sealed: ${failure}`);
    this.lastFailure = failure;
  }

  private logHead(): void {
    const head = describe(this.sealer.head);
    if (head !== this.logged) this.logger.log(`The audit chain ends at ${head}.`);
    this.logged = head;
  }
}
