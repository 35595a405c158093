import type { Tx } from '../platform/database/transactions.js';
import type { Departure, Gate } from '../platform/net/outbound-request.js';

/** Validity of a permit: time after the read of the switch in which a gated request may leave. */
export const PERMIT_MS = 1_000;

export interface PermitTimes {
  /** Cannot be set, but stops while the machine sleeps. */
  readonly monotonic: number;
  /** Continues while the machine sleeps, but can be set. */
  readonly wall: number;
}

const presentTimes = (): PermitTimes => ({ monotonic: performance.now(), wall: Date.now() });

/** The permit expired before the request left. Nothing was sent, and the switch must be read again. */
export class PermitLapsed extends Error {
  constructor() {
    super(`The permit expired: more than ${PERMIT_MS} ms passed since the kill switch was read.`);
    this.name = new.target.name;
  }
}

/** Proof that the kill switch was off at a time. The permit expires PERMIT_MS later. */
export class Permit {
  /** @param since taken before the switch was read */
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

  /** Call it immediately before the bytes of a gated request leave. */
  assertFresh(): void {
    if (!this.fresh) throw new PermitLapsed();
  }
}

/** Joins the transaction that renews a permit. Throws if the claim is lost. */
export type Reclaim = (tx: Tx) => Promise<void>;

/** Hooks of the owner of a claim, called before its requests leave. */
interface ClaimSteps {
  /** Called before the first request leaves: records that a request may have left. Nothing leaves if it throws. */
  readonly noteSending?: () => Promise<void>;
  readonly reclaim?: Reclaim;
}

/**
 * Gate for the requests of one claim. The first request may use the permit of the claim. Every further request, a late
 * first request, or the first request of a claim without a permit reads the switch again and confirms the claim.
 */
export class PermitGate implements Gate {
  private noted = false;
  private used = false;

  constructor(
    private readonly killSwitch: { renewPermit(reclaim?: Reclaim): Promise<Permit> },
    private permit: Permit | undefined,
    private readonly signal: AbortSignal,
    private readonly claim: ClaimSteps = {},
  ) {}

  /** Whether a request has left, so that the claim may have had an effect. */
  get opened(): boolean {
    return this.used;
  }

  async send<T>(request: (departure: Departure) => Promise<T>): Promise<T> {
    let asked = false;
    const leave = async (): Promise<void> => {
      asked = true;
      await this.leave();
    };
    const answer = await request({ signal: this.signal, leave });
    if (asked) return answer;
    // The request may have had its effect, whatever is thrown here.
    this.used = true;
    throw new Error(
      'The request was sent without a check of the kill switch: departure.leave() was not called.',
    );
  }

  private async leave(): Promise<void> {
    if (!this.noted) await this.claim.noteSending?.();
    this.noted = true;
    this.signal.throwIfAborted();
    if (this.used || !this.permit?.fresh) {
      this.permit = await this.killSwitch.renewPermit(this.claim.reclaim);
    }
    this.signal.throwIfAborted();
    this.permit.assertFresh();
    this.used = true;
  }
}
