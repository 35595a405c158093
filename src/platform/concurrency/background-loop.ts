import type { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../database/sqlstate.js';
import { outsideTraces } from '../tracing/tracing.js';

export interface LoopOptions {
  readonly task: string;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly pauseMs: number;
  /** Minimum pause, even after a wake-up. A longer call has a longer pause, so that the next call gets more items. */
  readonly restMs?: number;
}

const LONGEST_REST_MS = 100;
const REST_AFTER_FAILURE_MS = 100;

/** Calls `work` after each pause and after each wake-up. Two calls never run at the same time. */
export class BackgroundLoop {
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;
  private again = false;
  private failing: 'database' | 'work' | undefined;
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
      const begun = performance.now();
      try {
        await this.work();
        this.failing = undefined;
      } catch (error) {
        const cause = isDatabaseUnavailable(error) ? 'database' : 'work';
        if (this.failing !== cause) reportFailure(log, task, error);
        this.failing = cause;
        await this.rest(Math.min(pauseMs, REST_AFTER_FAILURE_MS));
        continue;
      }
      if (restMs > 0)
        await this.rest(Math.max(restMs, Math.min(LONGEST_REST_MS, performance.now() - begun)));
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

/** If the database is unavailable, logs only a warning, because the work is not at fault. */
export function reportFailure(log: LoopOptions['log'], task: string, error: unknown): void {
  if (isDatabaseUnavailable(error)) {
    log.warn(`${task} waits for the database: ${(error as Error).message}`);
  } else {
    log.error({ err: error }, `${task} failed.`);
  }
}
