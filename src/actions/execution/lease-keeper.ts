import type { Action } from '../action.js';
import { CallDeadlineError, ClaimLostError } from './execution.errors.js';

const RENEWALS_PER_LEASE = 3;

interface Options {
  readonly leaseMs: number;
  readonly deadlineMs: number;
  /** False when the lease is somebody else's by now. */
  readonly renew: (action: Action) => Promise<boolean>;
}

/**
 * Renews the lease of a run while its call is under way. Its signal is aborted when the run has lost its claim, or has taken
 * longer than an action may.
 */
export class LeaseKeeper {
  private readonly controller = new AbortController();
  private readonly renewal: NodeJS.Timeout;
  private readonly deadline: NodeJS.Timeout;

  constructor(action: Action, { leaseMs, deadlineMs, renew }: Options) {
    this.renewal = setInterval(() => void this.renew(action, renew), leaseMs / RENEWALS_PER_LEASE);
    this.deadline = setTimeout(
      () => this.controller.abort(new CallDeadlineError(deadlineMs)),
      deadlineMs,
    );
    // A process that ends does not wait for its runs: recovery settles what they leave behind.
    this.renewal.unref();
    this.deadline.unref();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** What `work` yields; throws what ended the run, if that comes first. A connector that ignores the signal is not waited for. */
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
    clearInterval(this.renewal);
    clearTimeout(this.deadline);
  }

  private async renew(action: Action, renew: Options['renew']): Promise<void> {
    try {
      if (!(await renew(action))) this.controller.abort(new ClaimLostError());
    } catch {
      // The database is away. The next renewal tries again; should the lease lapse first, the fence decides whose writes count.
    }
  }
}
