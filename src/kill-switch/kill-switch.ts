import { AppError } from '../platform/errors/app-error.js';
import type { Tx } from '../platform/database/transactions.js';
import type { Caller } from '../platform/http/caller.js';
import type { Departure, Gate } from '../platform/net/outbound-request.js';

export class KillSwitchActiveError extends AppError {
  constructor({ reason, activatedBy, activatedAt }: KillSwitchState) {
    super('kill_switch_active', 'The kill switch is on: automation and actions are stopped.', {
      details: {
        reason,
        activated_by: activatedBy,
        activated_at: activatedAt && activatedAt.toISOString(),
      },
    });
  }
}

/** A switch that cannot be read counts as active. */
export class KillSwitchUnreadableError extends AppError {
  constructor(cause?: unknown) {
    super('kill_switch_active', 'The kill switch cannot be read and therefore counts as on.', {
      cause,
    });
  }
}

export const KILL_SWITCH_ACTIVATED = 'kill_switch.activated';
export const KILL_SWITCH_DEACTIVATED = 'kill_switch.deactivated';

/** State of the switch and its last changes. Values that do not apply are `undefined`. */
export interface KillSwitchState {
  readonly active: boolean;
  readonly reason?: string;
  readonly activatedBy?: string;
  readonly activatedAt?: Date;
  readonly deactivatedBy?: string;
  readonly deactivatedAt?: Date;
  readonly deactivationReason?: string;
}

/** Whether the work was rejected because the switch is on or cannot be read. */
export function isKillSwitchActive(error: unknown): boolean {
  return error instanceof AppError && error.code === 'kill_switch_active';
}

/** A module whose calls may be in progress when the switch is turned on. */
export interface UnderWay {
  /** Counts claims whose calls started and have not ended. */
  countClaims(): Promise<{ readonly inFlight: number }>;
}

export const HELD = ['actions', 'triage_runs', 'playbook_runs'] as const;
export type HeldName = (typeof HELD)[number];
export type HeldCounts = Readonly<Record<HeldName, number>>;

/** Work that waits while the switch is on. */
export interface HeldWork {
  count(): Promise<number>;
  /** Discards the waiting work. Returns the number of discarded pieces. */
  discard(tx: Tx, caller: Caller): Promise<number>;
}

/** Kill switch as other modules use it. */
export abstract class KillSwitch {
  /**
   * Call it in the transaction of a claim. Throws AppError `kill_switch_active` if the switch is on. No activation
   * commits between this call and the commit of the transaction.
   */
  abstract claimPermit(tx: Tx): Promise<Permit>;

  /**
   * Call it before every further request and every retry. Runs in a short transaction of its own. `reclaim` joins that
   * transaction and throws if the claim is lost.
   */
  abstract renewPermit(reclaim?: (tx: Tx) => Promise<void>): Promise<Permit>;

  /** Also `true` if the switch cannot be read. */
  abstract isActive(): Promise<boolean>;

  /** Call in `onModuleInit`. */
  abstract registerUnderWay(source: UnderWay): void;

  /** Call in `onModuleInit`. */
  abstract registerHeld(name: HeldName, work: HeldWork): void;
}

/**
 * SQL for statements that claim work without a permit. Null, which is not off, if there is no switch.
 */
export const IS_KILL_SWITCH_ON = '(select active from kill_switch)';

/** Validity of a permit: time after the read of the switch in which a gated request may leave. */
export const PERMIT_MS = 1_000;

export interface PermitTimes {
  /** Cannot be set, but stops while the machine sleeps. */
  readonly monotonic: number;
  /** Continues while the machine sleeps, but can be set. */
  readonly wall: number;
}

export const presentTimes = (): PermitTimes => ({ monotonic: performance.now(), wall: Date.now() });

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
    private readonly since: PermitTimes,
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

/** Hooks of the owner of a claim, called before its requests leave. */
interface ClaimSteps {
  /** Called before the first request leaves: records that a request may have left. Nothing leaves if it throws. */
  readonly noteSending?: () => Promise<void>;
  /** Joins the transaction that renews the permit: see KillSwitch.renewPermit. */
  readonly reclaim?: (tx: Tx) => Promise<void>;
}

/**
 * Gate for the requests of one claim. The first request may use the permit of the claim. Every further request, a late
 * first request, or the first request of a claim without a permit reads the switch again and confirms the claim.
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
    throw new Error('A gated request was sent without asking the gate.');
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
