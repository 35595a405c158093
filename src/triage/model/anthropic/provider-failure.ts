import { OutcomeUnknownError, UnreachableError } from '../../../platform/net/net.errors.js';
import { retryAfterMs } from '../../../platform/net/outbound-request.js';
import {
  fieldOf,
  LONGEST_RETRY_AFTER_MS,
  ModelUnavailableError,
  type UnavailableReason,
} from '../triage-model.port.js';
import { presentTime } from '../../../platform/clock.js';

/** An answer with an error status. */
export interface RefusedRequest {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** The parsed body. */
  readonly body: unknown;
}

/** What may make the same question be answered. */
type Remedy = 'time' | 'operator' | 'nothing';

interface Meaning {
  readonly reason: UnavailableReason;
  readonly remedy: Remedy;
}

const STATUSES: Readonly<Record<number, Meaning>> = {
  // Of these three nobody knows whether all questions are wrong or this one, such as an incident that is too large.
  400: { reason: 'provider_error', remedy: 'nothing' },
  401: { reason: 'authentication', remedy: 'operator' },
  403: { reason: 'authentication', remedy: 'operator' },
  408: { reason: 'provider_error', remedy: 'time' },
  409: { reason: 'provider_error', remedy: 'time' },
  413: { reason: 'provider_error', remedy: 'nothing' },
  422: { reason: 'provider_error', remedy: 'nothing' },
  429: { reason: 'rate_limited', remedy: 'time' },
  529: { reason: 'overloaded', remedy: 'time' },
};

/**
 * What a status means: https://platform.claude.com/docs/en/api/errors. The provider's own sentence is left out, because
 * nobody knows what a server between says, and the text reaches people.
 */
export function failureOfStatus({ status, headers, body }: RefusedRequest): ModelUnavailableError {
  if (status === 400 && isOfAccount(body)) return accountIsEmpty();
  const { reason, remedy } = STATUSES[status] ?? {
    reason: 'provider_error',
    // An unknown model, an unpaid bill, a wrong address: what is wrong is the same for every question.
    remedy: status >= 500 ? 'time' : 'operator',
  };
  const retryAfter = retryAfterMs(headers.get('retry-after') ?? undefined, new Date(presentTime()));
  return new ModelUnavailableError(reason, sentenceOf(status, body), {
    mayHelpLater: remedy !== 'nothing',
    needsOperator: remedy === 'operator',
    ...(remedy === 'time' && retryAfter !== undefined
      ? { retryAfterMs: Math.min(retryAfter, LONGEST_RETRY_AFTER_MS) }
      : {}),
  });
}

/** How a sentence about the account begins. What an incident says can only stand further behind, where a message quotes it. */
const OF_ACCOUNT = /^(?:your credit balance is|you have reached your specified)\b/i;

/** The provider tells that the credit is used up with the status of a wrong question. */
function isOfAccount(body: unknown): boolean {
  const error = fieldOf(body, 'error');
  const message = fieldOf(error, 'message');
  const type = fieldOf(error, 'type');
  return (
    type === 'invalid_request_error' && typeof message === 'string' && OF_ACCOUNT.test(message)
  );
}

function accountIsEmpty(): ModelUnavailableError {
  const message = 'The credit at the provider is used up, or its limit is reached (status 400).';
  const extras = { mayHelpLater: true, needsOperator: true };
  return new ModelUnavailableError('provider_error', message, extras);
}

function sentenceOf(status: number, body: unknown): string {
  const type = fieldOf(fieldOf(body, 'error'), 'type');
  const known = typeof type === 'string' && /^[a-z]{1,20}(_[a-z]{1,20}){0,3}$/.test(type);
  return `The provider answered with status ${status}${known ? ` (${type})` : ''}.`;
}

/** What the way to the provider threw. */
export function failureOfNetwork(
  cause: UnreachableError | OutcomeUnknownError,
): ModelUnavailableError {
  if (cause instanceof UnreachableError) {
    return new ModelUnavailableError('unreachable', 'The provider cannot be reached.', {
      mayHelpLater: true,
      needsOperator: !cause.temporary,
      cause,
    });
  }
  if (cause.reason === 'timeout') return timeIsUp(cause);
  return new ModelUnavailableError('provider_error', 'The provider gave no whole answer.', {
    mayHelpLater: true,
    cause,
  });
}

export function timeIsUp(cause?: unknown): ModelUnavailableError {
  return new ModelUnavailableError('timeout', 'The provider took too long.', {
    mayHelpLater: true,
    cause,
  });
}

/** An answer of 200 that is none, such as the page of a proxy. A message with odd contents may be better the next time. */
export function noMessage(answer?: unknown): ModelUnavailableError {
  const needsOperator = fieldOf(answer, 'type') !== 'message';
  return new ModelUnavailableError(
    'invalid_answer',
    'What answered at ANTHROPIC_BASE_URL does not speak the Messages protocol.',
    { mayHelpLater: true, needsOperator },
  );
}
