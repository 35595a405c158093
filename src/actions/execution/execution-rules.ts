import { shownStart } from '../../platform/text.js';
import type { Outcome } from '../../connectors/connector.port.js';
import type { ActionResult, FailureCode } from '../action.js';

const LONGEST_MESSAGE = 1_000;

/** What a finished call means for its action. */
export function resultOf(outcome: Exclude<Outcome, { kind: 'accepted' }>): ActionResult {
  const simulated = outcome.simulated && { simulated: true as const };
  if (outcome.kind === 'refused') return { ...failed('refused', outcome.message), ...simulated };
  return {
    success: true,
    message: shownStart(outcome.message, LONGEST_MESSAGE),
    ...simulated,
    data: outcome.data,
  };
}

export function failed(code: FailureCode, message: string): ActionResult {
  return { success: false, message: shownStart(message, LONGEST_MESSAGE), code };
}

/** What is known of a call that ended without an outcome. */
export interface Loss {
  readonly kind: 'unreachable' | 'timeout' | 'broken' | 'stopped';
  readonly message: string;
  /** Bytes of this attempt, or of an earlier one, may have left. */
  readonly sent: boolean;
  readonly idempotent: boolean;
}

/** The result of an action whose call ended so, when nothing more can be found out. */
export function resultOfLoss({ kind, message, sent, idempotent }: Loss): ActionResult {
  if (!sent) {
    return kind === 'unreachable'
      ? failed('unreachable', message)
      : failed('interrupted', `Nothing was sent: ${message}`);
  }
  if (kind === 'timeout' && idempotent) return failed('timeout', message);
  return failed(
    'outcome_unknown',
    `It may have happened or not, and has to be looked up at the vendor: ${message}`,
  );
}

export const NO_CONNECTOR: ActionResult = failed(
  'no_connector',
  'No enabled connector provides this action.',
);

const FIRST_POLL_MS = 500;
const LONGEST_POLL_MS = 15_000;

/** The wait before the nth look at an accepted operation: soon at first, then ever more patient. */
export function pollPauseMs(looks: number): number {
  return Math.min(FIRST_POLL_MS * 2 ** Math.min(looks, 10), LONGEST_POLL_MS);
}
