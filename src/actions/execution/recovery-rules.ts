import type { Connector } from '../../connectors/connector.port.js';
import type { Action } from '../action.js';

/** A call that may be repeated is, but not for ever. Every claim counts, also one that only asks the vendor. */
const MOST_RUNS = 5;

/**
 * What becomes of a claim whose run died. `repeat`: it waits for another run. `ask`: the vendor is doing it, or knows what
 * came of it. `give up`: it ends as what is known of it.
 */
export type Fate = 'repeat' | 'ask' | 'give up';

/** Decided by what is written down, without a word from the vendor: one that hangs must not delay it. */
export function fateOf(left: Action, connector: Connector | undefined): Fate {
  if (!connector) return 'give up';
  if (left.phase === 'accepted' || (left.sent && connector.probe)) return 'ask';
  return mayRepeat(left, connector) ? 'repeat' : 'give up';
}

export function mayRepeat(action: Action, connector: Connector): boolean {
  return hasRunsLeft(action) && connector.idempotent(action.type);
}

/** What was sent may have happened: then only where it was sent, and where it is harmless there, is it a repetition. */
export function mayBegin(action: Action, connector: Connector): boolean {
  if (!action.sent) return hasRunsLeft(action);
  return connector.identity.id === action.connectorId && mayRepeat(action, connector);
}

function hasRunsLeft({ fence }: Action): boolean {
  return fence < MOST_RUNS;
}
