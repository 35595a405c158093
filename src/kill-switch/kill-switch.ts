import { AppError } from '../platform/errors/app-error.js';
import type { Tx } from '../platform/database/transactions.js';
import type { Caller } from '../platform/http/caller.js';
import type { Permit } from './permit.js';

export const KILL_SWITCH_ACTIVATED = 'kill_switch.activated';
export const KILL_SWITCH_DEACTIVATED = 'kill_switch.deactivated';

/** The switch as it is, and who turned it on or off last. What does not apply is undefined. */
export interface KillSwitchState {
  readonly active: boolean;
  readonly reason?: string;
  readonly activatedBy?: string;
  readonly activatedAt?: Date;
  readonly deactivatedBy?: string;
  readonly deactivatedAt?: Date;
  readonly deactivationReason?: string;
}

/** Whether the work was refused because the switch is on, or cannot be read. */
export function isKillSwitchActive(error: unknown): boolean {
  return error instanceof AppError && error.code === 'kill_switch_active';
}

/** A module whose calls may be under way when the switch is turned on. */
export interface UnderWay {
  /** Counts the claims that have not ended: their calls were started and are not finished. */
  countClaims(): Promise<{ readonly inFlight: number }>;
}

export const HELD = ['actions', 'triage_runs', 'playbook_runs'] as const;
export type HeldName = (typeof HELD)[number];
export type HeldCounts = Readonly<Record<HeldName, number>>;

/** Work that waits while the switch is on. */
export interface HeldWork {
  count(): Promise<number>;
  /** Ends the waiting work instead of letting it go on; answers how many pieces of work that were. */
  discard(tx: Tx, caller: Caller): Promise<number>;
}

/** What the modules above know of the kill switch. */
export abstract class KillSwitch {
  /**
   * To be called inside the transaction of a claim. Throws AppError `kill_switch_active` when the switch is on. No
   * activation commits between this call and the commit of the transaction.
   */
  abstract claimPermit(tx: Tx): Promise<Permit>;

  /**
   * To be called before every further request that the switch may stop, and before every retry; runs in a short
   * transaction of its own. `reclaim` takes part in that transaction: it makes sure that the claim still holds, and
   * throws when it does not.
   */
  abstract renewPermit(reclaim?: (tx: Tx) => Promise<void>): Promise<Permit>;

  /** True as well when the switch cannot be read. */
  abstract isActive(): Promise<boolean>;

  /** To be called in `onModuleInit`. */
  abstract registerUnderWay(source: UnderWay): void;

  /** To be called in `onModuleInit`. */
  abstract registerHeld(name: HeldName, work: HeldWork): void;
}
