import type { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutageTold } from '../database/outage.js';
import { isConnectionLost, isDatabaseUnavailable } from '../database/sqlstate.js';
import { outsideTraces } from '../tracing/tracing.js';

export interface LoopOptions {
  /** What the work does, as the log says it: `Recovering actions` failed. */
  readonly task: string;
  readonly log: Pick<Logger, 'debug' | 'warn' | 'error'>;
  readonly pauseMs: number;
  /** How long it rests after each call, however often it is woken, so that what comes meanwhile is worked off together. */
  readonly restMs?: number;
}

/**
 * Calls `work` again and again with a pause after each call, and at once when woken. It never runs twice at a time. An
 * error only ends the one call, and the first error of a series goes to the log.
 */
export class BackgroundLoop {
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;
  private again = false;
  private failing = false;
  private stopped = true;
  private halt = new AbortController();

  constructor(
    private readonly options: LoopOptions,
    private readonly work: () => Promise<unknown>,
  ) {}

  start(): void {
    this.stopped = false;
    this.halt = new AbortController();
    this.wake();
  }

  wake(): void {
    if (this.stopped) return;
    this.again = true;
    this.underWay ??= outsideTraces(() => this.run());
  }

  /** Ends when the call under way has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.halt.abort();
    clearTimeout(this.timer);
    await this.underWay;
  }

  private async run(): Promise<void> {
    const { pauseMs, restMs = 0, log, task } = this.options;
    clearTimeout(this.timer);
    while (this.again && !this.stopped) {
      this.again = false;
      try {
        await this.work();
        this.failing = false;
      } catch (error) {
        this.failing ||= reportFailure(log, task, error);
        break;
      }
      if (restMs > 0) await this.rest(restMs);
    }
    this.underWay = undefined;
    if (this.stopped) return;
    this.timer = setTimeout(() => this.wake(), pauseMs);
    this.timer.unref();
  }

  private async rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.halt.signal, ref: false }).catch(() => undefined);
  }
}

/**
 * Tells the log that work in the background failed. That the database is away is no fault of the work: a warning, or for
 * debugging alone where the log has a line about the outage.
 *
 * @returns whether more was told than debugging is for
 */
export function reportFailure(log: LoopOptions['log'], task: string, error: unknown): boolean {
  if (isDatabaseUnavailable(error)) {
    const line = `${task} waits for the database: ${(error as Error).message}`;
    if (isConnectionLost(error) && isOutageTold()) {
      log.debug(line);
      return false;
    }
    log.warn(line);
  } else {
    log.error({ err: error }, `${task} failed.`);
  }
  return true;
}
