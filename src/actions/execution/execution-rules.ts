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

export interface Loss {
  readonly kind: 'unreachable' | 'timeout' | 'broken' | 'stopped';
  readonly message: string;
  /** True if this attempt or an earlier attempt may have sent a request. */
  readonly sent: boolean;
  readonly idempotent: boolean;
  /** True for a lookup. A lookup changes nothing, so its outcome is never unknown. */
  readonly isLookUp?: boolean;
}

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

/** Maximum duration of a question, which has only a few short requests. Frees the slot of a hanging question. */
export const QUESTION_MS = 30_000;
const SHORTEST_POLL_MS = 1_000;

const SHORTEST_REST_MS = 500;
const LONGEST_REST_MS = 15_000;

/** Returns the maximum duration of a poll: the time until the deadline of the action, but at least 1 s. */
export function pollMs(acceptedAt: number, now: number, deadlineMs: number): number {
  return Math.min(Math.max(acceptedAt + deadlineMs - now, SHORTEST_POLL_MS), QUESTION_MS);
}

/** Returns the pause before a poll: half of the time since the acceptance (0.5 to 15 s); 0 after the deadline. */
export function restMs(acceptedAt: number, now: number, deadlineMs: number): number {
  const elapsed = now - acceptedAt;
  const rest = Math.min(Math.max(Math.round(elapsed / 2), SHORTEST_REST_MS), LONGEST_REST_MS);
  return Math.max(Math.min(rest, deadlineMs - elapsed), 0);
}

export interface CallState {
  /** Id of the connector that may have received a request. Stored before the first byte is sent. */
  readonly sent_to?: string;
  /** Time at which the question about the outcome of that request began to wait. */
  readonly asked_since?: number;
  /** True if the vendor does not know the outcome of that request. */
  readonly is_unknown?: true;
  /** Present while the vendor is executing the action. The handle identifies the operation in polls. */
  readonly accepted?: { readonly handle: Record<string, unknown>; readonly at: number };
}

/** Maximum attempts of an action that sent no request. Polls and questions do not count. */
const MOST_ATTEMPTS = 5;
/** Maximum attempts after a sent request. Without the limit, an action that crashes the service would never end. */
const MOST_REPETITIONS = 25;

export interface Connectors {
  /** Connector that may have received a request, even if the connector is disabled now. */
  readonly called?: Connector;
  readonly provider?: Connector;
}

/** `poll`: the vendor is still executing. `ask`: the vendor may know the outcome. `give up`: the action ends. */
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

/** A sent request may have had an effect, so it is repeated only at the same connector, and only if a repetition is safe. */
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
