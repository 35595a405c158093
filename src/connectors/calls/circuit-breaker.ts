import { UnreachableError } from '../../platform/net/net.errors.js';

const FAILURES = 5;
const OPEN_MS = 30_000;

/**
 * Stops calling a vendor after several failures in a row, so that nobody waits for what will not come. After a while one
 * call is let through to find out whether the vendor answers again.
 */
export class CircuitBreaker {
  private failures = 0;
  private openUntil = 0;
  private isProbing = false;
  /** Why the last call failed, in words. */
  private lastCause = '';

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Throws when the call may not be made. Otherwise the caller has to report how it ended, by one of the three methods below. */
  enter(): void {
    if (this.failures < FAILURES) return;
    if (this.now() < this.openUntil || this.isProbing) throw new BreakerOpenError(this.lastCause);
    this.isProbing = true;
  }

  succeeded(): void {
    this.failures = 0;
    this.isProbing = false;
  }

  failed(cause: string): void {
    this.lastCause = cause;
    this.failures += 1;
    this.isProbing = false;
    if (this.failures >= FAILURES) this.openUntil = this.now() + OPEN_MS;
  }

  /** The call tells nothing about the vendor: it was given up before it got there, or the vendor stumbled over it alone. */
  unclear(): void {
    this.isProbing = false;
  }
}

export class BreakerOpenError extends UnreachableError {
  constructor(cause: string) {
    const message = 'The last calls all failed; no further one is made for up to 30 seconds.';
    super(`${message} The last failure: ${cause}`, { temporary: false });
  }
}
