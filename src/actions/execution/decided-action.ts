import type { Connector } from '../../connectors/connector.port.js';
import type { Permit } from '../../kill-switch/permit.js';
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
