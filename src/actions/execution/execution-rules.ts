import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { shownData, shownMessage } from '../../connectors/calls/vendor-answers.js';
import type { Connector, Outcome } from '../../connectors/connector-type.js';
import type { Action, ActionResult, FailureCode } from '../action.js';

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

/** Returns the result of an action that the connector only simulates; `undefined` if the connector must be called. */
export function simulatedResult(
  connector: Connector | undefined,
  type: ActionTypeName,
): ActionResult | undefined {
  const outcome = connector?.simulate?.(type);
  return outcome && resultOf(outcome);
}

export function endOf({ success }: ActionResult): 'completed' | 'failed' {
  return success ? 'completed' : 'failed';
}

export function failed(code: FailureCode, message: string): ActionResult {
  return { success: false, message: shownMessage(message), code };
}

/** A call that ended without an outcome. */
export interface Loss {
  readonly kind: 'unreachable' | 'timeout' | 'broken' | 'stopped';
  readonly message: string;
  /** This attempt or an earlier attempt may have sent a request. */
  readonly sent: boolean;
  readonly idempotent: boolean;
  /** A look-up changes nothing, so no outcome is unknown. */
  readonly isLookUp?: boolean;
}

/** Returns the result of a call whose outcome cannot be found out. */
export function resultOfLoss({ kind, message, sent, idempotent, isLookUp }: Loss): ActionResult {
  if (!sent) {
    return kind === 'unreachable'
      ? failed('unreachable', message)
      : failed('interrupted', `Nothing was sent: ${message}`);
  }
  if (isLookUp) return failed(kind === 'timeout' ? 'timeout' : 'unreachable', message);
  if (idempotent && kind !== 'stopped') {
    return failed(
      'timeout',
      `The outcome is unknown, and a repetition is safe: request the action again. ${message}`,
    );
  }
  return failed(
    'outcome_unknown',
    `The outcome is unknown, and a repetition is not safe: check it at the vendor. ${message}`,
  );
}

export function noConnector({ rollback_of }: Pick<Action, 'rollback_of'>): ActionResult {
  return failed(
    'no_connector',
    rollback_of === undefined
      ? 'No enabled connector provides this action.'
      : 'The connector of the original action is deleted, is disabled or does not provide this action.',
  );
}

/** Deadline of a question to a vendor, which is a few short requests. A hanging question frees its place then. */
export const QUESTION_MS = 30_000;

const SHORTEST_REST_MS = 500;
const LONGEST_REST_MS = 15_000;

/**
 * Returns the time until the next poll of an accepted operation: half of the time since its acceptance, so that slow
 * operations are polled less often. 0 after the deadline of the action.
 */
export function restMs(acceptedAt: Date | undefined, now: Date, deadlineMs: number): number {
  const elapsed = acceptedAt ? now.getTime() - acceptedAt.getTime() : 0;
  const rest = Math.min(Math.max(Math.round(elapsed / 2), SHORTEST_REST_MS), LONGEST_REST_MS);
  return Math.max(Math.min(rest, deadlineMs - elapsed), 0);
}

/** Maximum claims of an action that is repeated. A claim that only asks the vendor counts as well. */
const MOST_RUNS = 5;

/**
 * Step for a claim whose run died. `repeat`: the action waits for another run. `ask`: the vendor accepted the action or may
 * know the outcome. `give up`: the action ends with the outcome that its row allows.
 */
export type RecoveryStep = 'repeat' | 'ask' | 'give up';

/** Needs only the row, so that a hanging vendor cannot delay the step. */
export function recoveryStepOf(left: Action, connector: Connector | undefined): RecoveryStep {
  if (!connector) return 'give up';
  if (left.phase === 'accepted' || (left.sent && connector.probe)) return 'ask';
  return mayRepeat(left, connector) ? 'repeat' : 'give up';
}

export function mayRepeat(action: Action, connector: Connector): boolean {
  return hasRunsLeft(action) && connector.idempotent(action.action_type);
}

/** A sent action may have happened, so it begins again only at the same connector, and only if a repetition is safe. */
export function mayBegin(action: Action, connector: Connector): boolean {
  if (!action.sent) return hasRunsLeft(action);
  return connector.identity.id === action.connector_id && mayRepeat(action, connector);
}

function hasRunsLeft({ fence }: Action): boolean {
  return fence < MOST_RUNS;
}
