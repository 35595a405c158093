import type { Tx } from '../platform/database/transactions.js';
import type { Departure, Gate } from '../platform/net/outbound-request.js';

/** Validity of a permit: maximum time between the read of the switch and the send of a gated request. */
export const PERMIT_MS = 1_000;

export interface PermitTimes {
  /** Monotonic clock: cannot be set, but stops while the machine sleeps. */
  readonly monotonic: number;
  /** Wall clock: continues while the machine sleeps, but can be set. */
  readonly wall: number;
}

const presentTimes = (): PermitTimes => ({ monotonic: performance.now(), wall: Date.now() });

/** The permit expired before the request was sent. No request was sent, and the switch must be read again. */
export class PermitLapsed extends Error {
  constructor() {
    super(`The permit expired: more than ${PERMIT_MS} ms passed since the kill switch was read.`);
    this.name = new.target.name;
  }
}

/** Proof that the kill switch was off at a time. Expires PERMIT_MS later. */
export class Permit {
  /** @param since time before the read of the switch */
  constructor(
    private readonly since: PermitTimes = presentTimes(),
    private readonly now: () => PermitTimes = presentTimes,
  ) {}

  get fresh(): boolean {
    const { monotonic, wall } = this.now();
    return (
      monotonic - this.since.monotonic < PERMIT_MS && Math.abs(wall - this.since.wall) < PERMIT_MS
    );
  }

  /** Must run immediately before the bytes of a gated request are sent. */
  assertFresh(): void {
    if (!this.fresh) throw new PermitLapsed();
  }
}

export type Reclaim = (tx: Tx) => Promise<void>;

/** Hooks of the owner of a claim, called before its requests are sent. */
interface ClaimSteps {
  /** Called before the first request: records that a request may have been sent. No request is sent if the hook throws. */
  readonly noteSending?: () => Promise<void>;
  readonly reclaim?: Reclaim;
}

/**
 * Gate for the requests of one claim. The first request may use the permit of the claim. Every further request, a late first
 * request, or the first request of a claim without a permit reads the switch again and confirms the claim.
 */
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
