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
  const outcome = connector?.simulate(type);
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
const SHORTEST_POLL_MS = 1_000;

const SHORTEST_REST_MS = 500;
const LONGEST_REST_MS = 15_000;

/** Returns the deadline of a poll: the rest of the deadline of the action, so that no hanging vendor extends it by more than 1 s. */
export function pollMs(acceptedAt: number, now: number, deadlineMs: number): number {
  return Math.min(Math.max(acceptedAt + deadlineMs - now, SHORTEST_POLL_MS), QUESTION_MS);
}

/**
 * Returns the time until the next poll of an accepted operation: half of the time since its acceptance, so that slow
 * operations are polled less often. 0 after the deadline of the action.
 */
export function restMs(acceptedAt: number, now: number, deadlineMs: number): number {
  const elapsed = now - acceptedAt;
  const rest = Math.min(Math.max(Math.round(elapsed / 2), SHORTEST_REST_MS), LONGEST_REST_MS);
  return Math.max(Math.min(rest, deadlineMs - elapsed), 0);
}

/** State of the work of an action, for later attempts. */
export interface CallState {
  /** Id of the connector that a request may have been sent to. Stored before the first byte leaves. */
  readonly sent_to?: string;
  /** Since when the outcome of that request waits for a question to the vendor. */
  readonly asked_since?: number;
  /** The vendor does not know the outcome of that request. */
  readonly is_unknown?: true;
  /** The vendor works on the action. Its handle is for questions about the progress. */
  readonly accepted?: { readonly handle: Record<string, unknown>; readonly at: number };
}

/** Maximum attempts of an action that sent nothing, without polls and questions. */
const MOST_ATTEMPTS = 5;
/** Maximum attempts of a sent action that may be repeated: without a limit, an action that crashes the service would never end. */
const MOST_REPETITIONS = 25;

/** The connectors of an action. */
export interface Connectors {
  /** Connector that a request may have been sent to, even if it is disabled now. */
  readonly called?: Connector;
  /** Connector that provides the action now. */
  readonly provider?: Connector;
}

/**
 * Next step of an action. `poll`: the vendor works on it. `ask`: the vendor may know the outcome of a request. `give up`: the
 * action ends with the outcome that its state allows.
 */
export function nextStep(
  action: Pick<Action, 'action_type'>,
  state: CallState,
  attempt: number,
  connectors: Connectors,
): 'send' | 'ask' | 'poll' | 'give up' {
  if (state.accepted) return connectors.called ? 'poll' : 'give up';
  const canAsk = connectors.called?.probe !== undefined && !state.is_unknown;
  if (state.sent_to !== undefined && canAsk) return 'ask';
  return maySend(action, state, attempt, connectors) ? 'send' : 'give up';
}

/** A sent request may have had its effect, so it is repeated only at the same connector, and only if that is safe. */
function maySend(
  { action_type }: Pick<Action, 'action_type'>,
  { sent_to }: CallState,
  attempt: number,
  { provider }: Connectors,
): boolean {
  if (!provider) return false;
  if (sent_to === undefined) return attempt <= MOST_ATTEMPTS;
  const isSafe = provider.identity.id === sent_to && provider.idempotent(action_type);
  return isSafe && attempt <= MOST_REPETITIONS;
}
