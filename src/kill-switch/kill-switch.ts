import type { Tx } from '../platform/database/transactions.js';
import type { Caller } from '../platform/http/caller.js';
import type { Permit } from './permit.js';

export const KILL_SWITCH_ACTIVATED = 'kill_switch.activated';
export const KILL_SWITCH_DEACTIVATED = 'kill_switch.deactivated';

/** Who may have calls under way when the switch goes on. */
export interface UnderWay {
  /** Claims that have not ended: their calls were started and are not finished. */
  countClaims(): Promise<{ readonly inFlight: number }>;
}

export const HELD = ['actions', 'triage_runs', 'playbook_runs'] as const;
export type HeldName = (typeof HELD)[number];

/** Work that waits while the switch is on. */
export interface HeldWork {
  count(): Promise<number>;
  /** Ends what waits, instead of letting it go on; answers how much that was. */
  discard(tx: Tx, caller: Caller): Promise<number>;
}

/** What the modules above know of the kill switch. */
export abstract class KillSwitch {
  /**
   * Inside the transaction of a claim: throws AppError `kill_switch_active` when the switch is on. No activation
   * commits between this and the commit of the transaction.
   */
  abstract claimPermit(tx: Tx): Promise<Permit>;

  /**
   * Before every further gated request and retry, in a short transaction of its own. `reclaim` takes part in it: it makes
   * sure that the claim still holds, and throws when it does not.
   */
  abstract renewPermit(reclaim?: (tx: Tx) => Promise<void>): Promise<Permit>;

  /** For an early answer, before anything is made: throws AppError `kill_switch_active`. It permits nothing. */
  abstract assertInactive(): Promise<void>;

  abstract isActive(): Promise<boolean>;

  /** Called in `onModuleInit`. */
  abstract registerUnderWay(source: UnderWay): void;

  /** Called in `onModuleInit`. */
  abstract registerHeld(name: HeldName, work: HeldWork): void;
}
