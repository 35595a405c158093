import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { shownData, shownMessage } from '../../connectors/calls/vendor-answers.js';
import type { Connector, Outcome } from '../../connectors/connector-type.js';
import type { Action, ActionResult, FailureCode } from '../action.js';

/** The result of an action whose call has an outcome. */
export function resultOf(outcome: Exclude<Outcome, { kind: 'accepted' }>): ActionResult {
  const simulated = outcome.simulated && { simulated: true as const };
  if (outcome.kind === 'refused') return { ...failed('refused', outcome.message), ...simulated };
  return {
    success: true,
    message: shownMessage(outcome.message),
    ...simulated,
    data: shownData(outcome.data),
  };
}

/** The result of an action that the connector only computes; undefined where the connector has to be called. */
export function simulatedResult(
  connector: Connector | undefined,
  type: ActionTypeName,
): ActionResult | undefined {
  const outcome = connector?.simulate?.(type);
  return outcome && resultOf(outcome);
}

/** The status that an action ends with. */
export function endOf({ success }: ActionResult): 'completed' | 'failed' {
  return success ? 'completed' : 'failed';
}

export function failed(code: FailureCode, message: string): ActionResult {
  return { success: false, message: shownMessage(message), code };
}

/** What is known of a call that ended without an outcome. */
export interface Loss {
  readonly kind: 'unreachable' | 'timeout' | 'broken' | 'stopped';
  readonly message: string;
  /** This attempt, or an earlier one, may have sent something. */
  readonly sent: boolean;
  readonly idempotent: boolean;
  /** It asks, and changes nothing: however it ended, nothing has happened that could be looked up. */
  readonly isLookUp?: boolean;
}

/** The result of an action whose call ended without an outcome, when nothing more can be found out. */
export function resultOfLoss({ kind, message, sent, idempotent, isLookUp }: Loss): ActionResult {
  if (!sent) {
    return kind === 'unreachable'
      ? failed('unreachable', message)
      : failed('interrupted', `Nothing was sent: ${message}`);
  }
  if (isLookUp) return failed(kind === 'timeout' ? 'timeout' : 'unreachable', message);
  if (idempotent && kind !== 'stopped') {
    return failed('timeout', `It may have happened or not, and may be asked for again: ${message}`);
  }
  return failed(
    'outcome_unknown',
    `It may have happened or not, and has to be looked up at the vendor: ${message}`,
  );
}

export function noConnector({ rollback_of }: Pick<Action, 'rollback_of'>): ActionResult {
  return failed(
    'no_connector',
    rollback_of === undefined
      ? 'No enabled connector provides this action.'
      : 'The connector that did what is rolled back is gone, disabled or does not provide this action.',
  );
}

/** A question to a vendor is a few short requests. One that hangs keeps its place no longer than this. */
export const QUESTION_MS = 30_000;

const SHORTEST_REST_MS = 500;
const LONGEST_REST_MS = 15_000;

/**
 * How long an action rests before its vendor is asked again how far it is: half as long as the vendor has been doing it, so
 * that what is quick is known quickly, and what is slow is asked about seldom. 0 when it has taken longer than an action may.
 */
export function restMs(acceptedAt: Date | undefined, now: Date, deadlineMs: number): number {
  const elapsed = acceptedAt ? now.getTime() - acceptedAt.getTime() : 0;
  const rest = Math.min(Math.max(Math.round(elapsed / 2), SHORTEST_REST_MS), LONGEST_REST_MS);
  return Math.max(Math.min(rest, deadlineMs - elapsed), 0);
}

/** After so many claims nothing is repeated any more; one that only asks the vendor counts, too. */
const MOST_RUNS = 5;

/**
 * What is done about a claim whose run died. `repeat`: its action waits for another run. `ask`: the vendor is doing it, or
 * may know what became of it. `give up`: the action ends by what its row says of it.
 */
export type RecoveryStep = 'repeat' | 'ask' | 'give up';

/** Decided by the row alone: a vendor that hangs must not delay it. */
export function recoveryStepOf(left: Action, connector: Connector | undefined): RecoveryStep {
  if (!connector) return 'give up';
  if (left.phase === 'accepted' || (left.sent && connector.probe)) return 'ask';
  return mayRepeat(left, connector) ? 'repeat' : 'give up';
}

export function mayRepeat(action: Action, connector: Connector): boolean {
  return hasRunsLeft(action) && connector.idempotent(action.action_type);
}

/** What was sent may have happened: then it is begun only at the connector that it was sent to, and if repeating does no harm. */
export function mayBegin(action: Action, connector: Connector): boolean {
  if (!action.sent) return hasRunsLeft(action);
  return connector.identity.id === action.connector_id && mayRepeat(action, connector);
}

function hasRunsLeft({ fence }: Action): boolean {
  return fence < MOST_RUNS;
}
