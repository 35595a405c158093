import { OutcomeUnknownError } from '../../platform/net/net.errors.js';
import { unlessAborted } from '../../platform/concurrency/within.js';
/** Another replica has taken the action over, or it has ended: whatever this one still knows about it does not count. */
export class ClaimLostError extends Error {
  constructor() {
    super('The action is no longer claimed by this run.');
    this.name = new.target.name;
  }
}

/** The vendor has been asked for longer than an action may take. */
export class CallDeadlineError extends OutcomeUnknownError {
  constructor(ms: number) {
    super(`The call took longer than ${ms} ms.`, 'timeout');
  }
}

const RENEWALS_PER_LEASE = 3;

interface Options<Claim> {
  readonly leaseMs: number;
  readonly deadlineMs: number;
  /** False when the lease is somebody else's by now. */
  readonly renew: (claim: Claim) => Promise<boolean>;
}

/**
 * Renews the lease of a run while its call is under way. Its signal is aborted when the run has lost its claim, or has taken
 * longer than an action may.
 */
export class LeaseKeeper<Claim = unknown> {
  private readonly controller = new AbortController();
  private readonly renewal: NodeJS.Timeout;
  private readonly deadline: NodeJS.Timeout;

  constructor(claim: Claim, { leaseMs, deadlineMs, renew }: Options<Claim>) {
    this.renewal = setInterval(() => void this.renew(claim, renew), leaseMs / RENEWALS_PER_LEASE);
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
    return await unlessAborted(this.signal, work);
  }

  stop(): void {
    clearInterval(this.renewal);
    clearTimeout(this.deadline);
  }

  private async renew(claim: Claim, renew: Options<Claim>['renew']): Promise<void> {
    try {
      if (!(await renew(claim))) this.controller.abort(new ClaimLostError());
    } catch {
      // The database is away. The next renewal tries again; should the lease lapse first, the fence decides whose writes count.
    }
  }
}
