import type { Action } from '../action.js';
import { CallDeadlineError, ClaimLostError } from './execution.errors.js';

const BEATS_PER_LEASE = 3;

interface Options {
  readonly leaseMs: number;
  readonly deadlineMs: number;
  /** False when the lease is somebody else's by now. */
  readonly renew: (action: Action) => Promise<boolean>;
}

/** Keeps a run's lease while its call is under way. The signal is aborted when the run does not count any more. */
export class LeaseKeeper {
  private readonly controller = new AbortController();
  private readonly beat: NodeJS.Timeout;
  private readonly deadline: NodeJS.Timeout;

  constructor(action: Action, { leaseMs, deadlineMs, renew }: Options) {
    this.beat = setInterval(() => void this.renew(action, renew), leaseMs / BEATS_PER_LEASE);
    this.deadline = setTimeout(
      () => this.controller.abort(new CallDeadlineError(deadlineMs)),
      deadlineMs,
    );
    // A run holds up no exit: what it leaves behind, recovery settles.
    this.beat.unref();
    this.deadline.unref();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** What `work` yields, or what ended the run first. A connector that does not heed the signal is left behind. */
  async unlessOver<T>(work: Promise<T>): Promise<T> {
    const over = Promise.withResolvers<never>();
    const end = () => over.reject(this.signal.reason as Error);
    if (this.signal.aborted) end();
    this.signal.addEventListener('abort', end, { once: true });
    try {
      return await Promise.race([work, over.promise]);
    } finally {
      this.signal.removeEventListener('abort', end);
    }
  }

  stop(): void {
    clearInterval(this.beat);
    clearTimeout(this.deadline);
  }

  private async renew(action: Action, renew: Options['renew']): Promise<void> {
    try {
      if (!(await renew(action))) this.controller.abort(new ClaimLostError());
    } catch {
      // The database is away. The next beat tries again; should the lease lapse first, the fence decides who counts.
    }
  }
}
