import { UnreachableError } from '../../platform/net/net.errors.js';

const FAILURES = 5;
const OPEN_MS = 30_000;

/** Spares a vendor that does not answer, and those who would wait for it. After a while one call may try. */
export class CircuitBreaker {
  private failures = 0;
  private openUntil = 0;
  private trying = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Throws instead of letting the call through. Whoever is let through says how it ended. */
  enter(): void {
    if (this.failures < FAILURES) return;
    if (this.now() < this.openUntil || this.trying) throw new BreakerOpenError();
    this.trying = true;
  }

  succeeded(): void {
    this.failures = 0;
    this.trying = false;
  }

  failed(): void {
    this.failures += 1;
    this.trying = false;
    if (this.failures >= FAILURES) this.openUntil = this.now() + OPEN_MS;
  }

  /** It ended before the vendor came into it. */
  notTried(): void {
    this.trying = false;
  }
}

export class BreakerOpenError extends UnreachableError {
  constructor() {
    super('The last calls all failed; no further one is made for some seconds.', {
      temporary: false,
    });
  }
}
