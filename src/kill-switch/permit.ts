import type { Tx } from '../platform/database/transactions.js';
import type { Departure, Gate } from '../platform/net/outbound-request.js';

/** Validity of a permit: maximum time between reading the switch and sending a request that needs a permit. */
export const PERMIT_MS = 1_000;

/** Error: the permit expired before the request was sent. No request was sent, and the switch must be read again. */
export class PermitLapsed extends Error {
  constructor() {
    super(`The permit expired: more than ${PERMIT_MS} ms passed since the kill switch was read.`);
    this.name = new.target.name;
  }
}

export class Permit {
  /** The monotonic clock cannot be set but stops during sleep; the wall clock can be set but does not stop. */
  constructor(
    private readonly monotonic = performance.now(),
    private readonly wall = Date.now(),
  ) {}

  get fresh(): boolean {
    const age = Math.max(performance.now() - this.monotonic, Math.abs(Date.now() - this.wall));
    return age < PERMIT_MS;
  }

  /** Must run immediately before the bytes of a request that needs a permit are sent. */
  assertFresh(): void {
    if (!this.fresh) throw new PermitLapsed();
  }
}

export type Reclaim = (tx: Tx) => Promise<void>;

interface ClaimSteps {
  /** Records, before the first request, that a request may have been sent. If it throws, no request is sent. */
  readonly noteSending?: () => Promise<void>;
  readonly reclaim?: Reclaim;
}

/** The first request uses the permit of the claim. Any other request reads the switch and confirms the claim. */
export class PermitGate implements Gate {
  private noted = false;
  opened = false;

  constructor(
    private readonly killSwitch: { renewPermit(reclaim?: Reclaim): Promise<Permit> },
    private permit: Permit | undefined,
    private readonly signal: AbortSignal,
    private readonly claim: ClaimSteps = {},
  ) {}

  async send<T>(request: (departure: Departure) => Promise<T>): Promise<T> {
    let asked = false;
    const leave = async (): Promise<void> => {
      asked = true;
      await this.leave();
    };
    const answer = await request({ signal: this.signal, leave });
    if (asked) return answer;
    // The request may have had an effect, even if this call throws.
    this.opened = true;
    throw new Error(
      'The request was sent without a check of the kill switch: departure.leave() was not called.',
    );
  }

  private async leave(): Promise<void> {
    if (!this.noted) await this.claim.noteSending?.();
    this.noted = true;
    this.signal.throwIfAborted();
    if (this.opened || !this.permit?.fresh) {
      this.permit = await this.killSwitch.renewPermit(this.claim.reclaim);
    }
    this.signal.throwIfAborted();
    this.permit.assertFresh();
    this.opened = true;
  }
}
