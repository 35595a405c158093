import { OutcomeUnknownError } from '../../platform/net/net.errors.js';
import { unlessAborted } from '../../platform/concurrency/within.js';

/** Another run has taken the action over, or it has ended. Later writes of this run have no effect. */
export class ClaimLostError extends Error {
  constructor() {
    super('The action is no longer claimed by this run.');
    this.name = new.target.name;
  }
}

/** The call took longer than the deadline of the action. */
export class CallDeadlineError extends OutcomeUnknownError {
  constructor(ms: number) {
    super(`The call took longer than ${ms} ms.`, 'timeout');
  }
}

const RENEWALS_PER_LEASE = 3;

interface Options<Claim> {
  readonly leaseMs: number;
  readonly deadlineMs: number;
  /** Returns `false` if another run has the claim. */
  readonly renew: (claim: Claim) => Promise<boolean>;
}

/** Renews the lease of a run during its call. Aborts its signal when the run loses its claim or the deadline passes. */
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
    // A process ends without waiting for its runs. Recovery settles their claims.
    this.renewal.unref();
    this.deadline.unref();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Returns the result of `work`, or throws the reason of the signal, also if a connector ignores the signal. */
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
      // The database is down, and the next renewal retries. If the lease expires first, the fence rejects stale writes.
    }
  }
}
