import type { Job } from 'pg-boss';
import type { JobContext } from '../job-queue.js';

/** A job that this process has claimed and not yet settled. */
export class RunningJob implements JobContext {
  readonly id: string;
  readonly attempt: number;
  /** The handler has ended; only the row is left to be written. */
  settling = false;
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;

  constructor(readonly claim: Job<object>) {
    this.id = claim.id;
    this.attempt = claim.retryCount + 1;
    this.timer = setTimeout(
      () => this.abort(`The job ran longer than ${claim.expireInSeconds} s.`),
      claim.expireInSeconds * 1_000,
    );
    this.timer.unref();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  abort(reason: string): void {
    this.controller.abort(new Error(reason));
  }

  release(): void {
    clearTimeout(this.timer);
  }
}
