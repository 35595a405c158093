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
  private running: Promise<void> | undefined;
  private again = false;
  private failing: 'database' | 'work' | undefined;
  private halt: AbortController | undefined;
  private endPause: () => void = () => undefined;

  constructor(
    private readonly options: LoopOptions,
    private readonly work: () => Promise<unknown>,
  ) {}

  /** Has no effect while the loop runs. */
  start(): void {
    if (this.halt?.signal.aborted === false) return;
    const { signal } = (this.halt = new AbortController());
    this.running = outsideTraces(() => this.run(signal));
  }

  wake(): void {
    this.again = true;
    this.endPause();
  }

  async stop(): Promise<void> {
    this.halt?.abort();
    this.endPause();
    await this.running;
  }

  private async run(halt: AbortSignal): Promise<void> {
    const { restMs = 0, log, task } = this.options;
    const rest = (ms: number) => sleep(ms, undefined, { signal: halt, ref: false }).catch(() => 0);
    while (!halt.aborted) {
      this.again = false;
      const begun = performance.now();
      try {
        await this.work();
        this.failing = undefined;
        const longMs = Math.min(LONGEST_REST_MS, performance.now() - begun);
        if (restMs > 0) await rest(Math.max(restMs, longMs));
      } catch (error) {
        const cause = isDatabaseUnavailable(error) ? 'database' : 'work';
        if (this.failing !== cause) reportFailure(log, task, error);
        this.failing = cause;
        await rest(Math.min(this.options.pauseMs, REST_AFTER_FAILURE_MS));
      }
      if (!this.again && !halt.aborted) await this.pause();
    }
  }

  private async pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.options.pauseMs).unref();
    this.endPause = resolve;
    await promise;
    clearTimeout(timer);
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
