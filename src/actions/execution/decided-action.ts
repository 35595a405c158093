import type { Connector } from '../../connectors/connector.port.js';
import { isKillSwitchActive, type KillSwitch, type Permit } from '../../kill-switch/kill-switch.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Action } from '../action.js';

/** An action as the transaction has left it that requested, approved or rolled it back. */
export interface DecidedAction {
  readonly action: Action;
  /** Present where that transaction has claimed it, too: this is what its run needs. */
  readonly run?: { readonly permit: Permit; readonly connector: Connector };
}

export function decidedAction(
  action: Action,
  permit: Permit | undefined,
  connector: Connector | undefined,
): DecidedAction {
  return { action, run: action.phase && permit && connector && { permit, connector } };
}

/**
 * Takes the permit for a claim. Its lock is the first of all locks of a transaction, but a request that is wrong in another
 * way is told so first: the returned function throws `kill_switch_active`, or returns the permit.
 */
export async function claimPermitLate(killSwitch: KillSwitch, tx: Tx): Promise<() => Permit> {
  try {
    const permit = await killSwitch.claimPermit(tx);
    return () => permit;
  } catch (error) {
    if (!isKillSwitchActive(error)) throw error;
    return () => {
      throw error;
    };
  }
}
