import Anthropic from '@anthropic-ai/sdk';
import { presentTime } from '../../../platform/clock.js';
import { OutcomeUnknownError, UnreachableError } from '../../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';
import {
  type Gate,
  type OutboundAnswer,
  retryAfterMs,
} from '../../../platform/net/outbound-request.js';
import {
  fieldOf,
  LONGEST_RETRY_AFTER_MS,
  ModelUnavailableError,
  type UnavailableReason,
} from '../triage-model.port.js';

type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The SDK adds other headers, which describe this machine. */
const SENT_HEADERS = ['accept', 'anthropic-version', 'authorization', 'content-type'];
const READ_HEADERS = ['content-type', 'retry-after', 'retry-after-ms'];
/** A response with such a status has no body. */
const WITHOUT_BODY = [204, 205, 304];

/**
 * Returns the `fetch` of the SDK. Each attempt passes the gate. `end` is called with an error after which the SDK must not
 * retry: an error of the gate, a timeout, or a target that is not allowed.
 */
export function gatedFetch(
  http: OutboundHttp,
  gate: Gate,
  signal: AbortSignal,
  timeoutMs: number,
  end: (error: unknown) => void,
): Fetch {
  const deadline = performance.now() + timeoutMs;
  return async (target, init = {}) => {
    const given = new Headers(init.headers);
    const headers = Object.fromEntries(
      SENT_HEADERS.map((name) => [name, given.get(name) ?? undefined]),
    );
    try {
      const answer = await gate.send(async (departure) => {
        try {
          return await http.request({
            method: init.method ?? 'GET',
            url: new URL(target instanceof Request ? target.url : target),
            headers,
            body: typeof init.body === 'string' ? init.body : undefined,
            timeoutMs: Math.max(1, deadline - performance.now()),
            operatorsTarget: true,
            signal: AbortSignal.any([signal, departure.signal]),
            beforeLeaving: () => departure.leave(),
          });
        } catch (error) {
          const isOfNetwork =
            error instanceof UnreachableError || error instanceof OutcomeUnknownError;
          if (isOfNetwork) departure.signal.throwIfAborted();
          throw error;
        }
      });
      return responseOf(answer, deadline - performance.now());
    } catch (error) {
      const isTemporary = error instanceof UnreachableError && error.temporary;
      const mayRetry =
        isTemporary || (error instanceof OutcomeUnknownError && error.reason === 'broken');
      if (!mayRetry) end(error);
      throw error;
    }
  };
}

function responseOf({ status, headers, body }: OutboundAnswer, timeLeftMs: number): Response {
  if (status < 200 || status > 599) {
    throw new OutcomeUnknownError('HTTP does not know the status of the response.', 'broken');
  }
  const kept = new Headers();
  for (const name of READ_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') kept.set(name, value);
  }
  // The SDK would wait beyond the deadline.
  if ((pauseIn(kept) ?? 0) >= timeLeftMs) kept.set('x-should-retry', 'false');
  const bytes = WITHOUT_BODY.includes(status) ? null : new Uint8Array(body);
  return new Response(bytes, { status, headers: kept });
}

function pauseIn(headers: Headers): number | undefined {
  return retryAfterMs(headers.get('retry-after') ?? undefined, new Date(presentTime()));
}

/** Who or what can make the same question succeed. */
type Remedy = 'time' | 'operator' | 'nothing';

/** https://platform.claude.com/docs/en/api/errors */
const STATUSES: Readonly<Record<number, readonly [UnavailableReason, Remedy]>> = {
  // After these three it is unknown whether every question is wrong, or only this one, for example a large incident.
  400: ['provider_error', 'nothing'],
  413: ['provider_error', 'nothing'],
  422: ['provider_error', 'nothing'],
  401: ['authentication', 'operator'],
  403: ['authentication', 'operator'],
  408: ['provider_error', 'time'],
  409: ['provider_error', 'time'],
  429: ['rate_limited', 'time'],
  529: ['overloaded', 'time'],
};

/** Converts errors of the SDK and of the network to the reason why there is no verdict. Other errors stay as they are. */
export function failureOf(error: unknown): unknown {
  if (error instanceof UnreachableError) {
    const message = 'The provider cannot be reached.';
    const extras = { mayHelpLater: true, needsOperator: !error.temporary, cause: error };
    return new ModelUnavailableError('unreachable', message, extras);
  }
  if (error instanceof OutcomeUnknownError) {
    const extras = { mayHelpLater: true, cause: error };
    return error.reason === 'timeout'
      ? new ModelUnavailableError('timeout', 'The provider took too long.', extras)
      : new ModelUnavailableError(
          'provider_error',
          'The response of the provider is incomplete.',
          extras,
        );
  }
  if (error instanceof Anthropic.APIConnectionError) {
    // The SDK drops the cause of a connection timeout.
    return failureOf(error.cause ?? new UnreachableError(error.message));
  }
  if (error instanceof Anthropic.APIError) return failureOfStatus(error as StatusError);
  return error instanceof SyntaxError ? notAMessage() : error;
}

type StatusError = InstanceType<typeof Anthropic.APIError>;

/** Leaves out the sentence of the provider, because a proxy may have written anything into it. */
function failureOfStatus(error: StatusError): ModelUnavailableError {
  const { status = 0, headers = new Headers(), error: body } = error;
  if (status === 400 && isAboutAccount(body)) {
    const message = 'The credit at the provider is used up, or its limit is reached (status 400).';
    const extras = { mayHelpLater: true, needsOperator: true };
    return new ModelUnavailableError('provider_error', message, extras);
  }
  // Other statuses mean an unknown model, an unpaid bill or a wrong address, for every question.
  const usual = ['provider_error', status >= 500 ? 'time' : 'operator'] as const;
  const [reason, remedy] = STATUSES[status] ?? usual;
  const pauseMs = remedy === 'time' ? pauseIn(headers) : undefined;
  const type = fieldOf(fieldOf(body, 'error'), 'type');
  const isKnown = typeof type === 'string' && /^[a-z]{1,20}(_[a-z]{1,20}){0,3}$/.test(type);
  const message = `The provider answered with status ${status}${isKnown ? ` (${type})` : ''}.`;
  return new ModelUnavailableError(reason, message, {
    mayHelpLater: remedy !== 'nothing',
    needsOperator: remedy === 'operator',
    ...(pauseMs !== undefined && { retryAfterMs: Math.min(pauseMs, LONGEST_RETRY_AFTER_MS) }),
  });
}

/** The provider reports used up credit as an invalid request. A quoted incident never begins the message. */
function isAboutAccount(body: unknown): boolean {
  const error = fieldOf(body, 'error');
  const message = String(fieldOf(error, 'message'));
  const isInvalid = fieldOf(error, 'type') === 'invalid_request_error';
  return (
    isInvalid && /^(?:your credit balance is|you have reached your specified)\b/i.test(message)
  );
}

/** A response of 200 that is not a message, such as the page of a proxy. A message with odd contents may be better later. */
export function notAMessage(answer?: unknown): ModelUnavailableError {
  const needsOperator = fieldOf(answer, 'type') !== 'message';
  const message = 'The server at ANTHROPIC_BASE_URL does not speak the Messages protocol.';
  return new ModelUnavailableError('invalid_answer', message, {
    mayHelpLater: true,
    needsOperator,
  });
}
