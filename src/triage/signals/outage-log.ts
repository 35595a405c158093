import type { Logger } from '@nestjs/common';
import type { UnavailableReason } from '../model/model.errors.js';

/** A provider that answers every other question would otherwise have two lines for each pair of runs. */
const QUIET_MS = 60_000;

/** Tells the log once that the provider begins to give nothing, and once that it answers again. */
export class OutageLog {
  private isTold = false;
  private toldAt = -Infinity;

  constructor(private readonly log: Pick<Logger, 'warn' | 'log'>) {}

  silent(reason: UnavailableReason, message: string, now: Date): void {
    if (this.isTold || now.getTime() - this.toldAt < QUIET_MS) return;
    this.isTold = true;
    this.toldAt = now.getTime();
    this.log.warn({ reason }, `The provider gives no verdicts: ${message}`);
  }

  answered(): void {
    if (this.isTold) this.log.log('The provider of verdicts answers again.');
    this.isTold = false;
  }
}
