import type { Tx } from '../platform/database/transactions.js';
import type { Departure, Gate } from '../platform/net/gate.js';
import type { KillSwitch } from './kill-switch.js';
import type { Permit } from './permit.js';

/** What whoever has claimed the work does on the way of its requests. */
export interface ClaimSteps {
  /** Before the first request leaves: writes down that one may have. Nothing leaves when it throws. */
  readonly noteSending?: () => Promise<void>;
  /** Takes part in the transaction that renews the permit: see KillSwitch.renewPermit. */
  readonly reclaim?: (tx: Tx) => Promise<void>;
}

/**
 * Lets the requests of one claim out. The first may leave on the permit of the claim; every further one, and the first
 * when it comes too late or the claim took no permit, only after the switch has been read again and the claim has been
 * confirmed with it.
 */
export class PermitGate implements Gate {
  private noted = false;
  private used = false;

  constructor(
    private readonly killSwitch: Pick<KillSwitch, 'renewPermit'>,
    private permit: Permit | undefined,
    private readonly signal: AbortSignal,
    private readonly claim: ClaimSteps = {},
  ) {}

  /** Whether a request has been let out: what was claimed may have had an effect. */
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
    // It may have had its effect, whatever is thrown here.
    this.used = true;
    throw new Error('A gated request went out without asking the gate.');
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
