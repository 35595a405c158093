import Anthropic from '@anthropic-ai/sdk';
import { valueAt } from '../../../connectors/calls/vendor-answers.js';
import { presentTime } from '../../../platform/clock.js';
import type { Settings } from '../../../platform/config/settings.js';
import { OutcomeUnknownError, UnreachableError } from '../../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';
import {
  type Gate,
  type OutboundAnswer,
  retryAfterMs,
} from '../../../platform/net/outbound-request.js';
import {
  LONGEST_RETRY_AFTER_MS,
  ModelUnavailableError,
  type UnavailableReason,
} from '../triage-model.port.js';

export type AnthropicSettings = Pick<
  Settings,
  'anthropicApiKey' | 'anthropicBaseUrl' | 'anthropicModel' | 'triageTimeoutMs'
>;

/** Removes the other headers of the SDK, which describe this machine. */
const SENT_HEADERS = ['accept', 'anthropic-version', 'authorization', 'content-type'];
const READ_HEADERS = ['content-type', 'retry-after', 'retry-after-ms'];

export class ProviderRequests {
  /** Aborted by an error that the SDK must not retry: an error of the gate, a timeout, or a forbidden target. */
  private readonly ended = new AbortController();
  private readonly deadline: number;
  private readonly sdk: Anthropic;

  constructor(
    private readonly http: OutboundHttp,
    settings: AnthropicSettings,
    private readonly gate: Gate,
    private readonly signal: AbortSignal,
  ) {
    const { anthropicApiKey: apiKey, anthropicBaseUrl: baseURL } = settings;
    const { triageTimeoutMs: timeout } = settings;
    this.deadline = performance.now() + timeout;
    const fetch: typeof globalThis.fetch = (target, init) =>
      this.fetch(new URL(target instanceof Request ? target.url : target), init);
    const quiet = { openTelemetry: false, logLevel: 'off' } as const;
    this.sdk = new Anthropic({ apiKey, baseURL, timeout, fetch, ...quiet });
  }

  /** Throws the reason of the signal, errors of the gate, and ModelUnavailableError. */
  async send(params: Anthropic.MessageCreateParamsNonStreaming): Promise<unknown> {
    const signal = AbortSignal.any([this.signal, this.ended.signal]);
    signal.throwIfAborted();
    try {
      return await this.sdk.messages.create(params, { signal });
    } catch (error) {
      this.signal.throwIfAborted();
      throw failureOf(signal.aborted ? signal.reason : error);
    }
  }

  private async fetch(url: URL, init: RequestInit = {}): Promise<Response> {
    const given = new Headers(init.headers);
    const headers = Object.fromEntries(
      SENT_HEADERS.map((name) => [name, given.get(name) ?? undefined]),
    );
    const { method = 'GET', body } = init;
    try {
      const answer = await this.gate.send(async (departure) => {
        try {
          return await this.http.request({
            ...{ method, url, headers },
            body: typeof body === 'string' ? body : undefined,
            timeoutMs: Math.max(1, this.timeLeftMs),
            operatorsTarget: true,
            signal: AbortSignal.any([this.signal, departure.signal]),
            beforeLeaving: () => departure.leave(),
          });
        } catch (error) {
          if (isOfNetwork(error)) departure.signal.throwIfAborted();
          throw error;
        }
      });
      return this.responseOf(answer);
    } catch (error) {
      const mayRetry =
        isOfNetwork(error) &&
        (error instanceof UnreachableError ? error.temporary : error.reason === 'broken');
      if (!mayRetry) this.ended.abort(error);
      throw error;
    }
  }

  private responseOf({ status, headers, body }: OutboundAnswer): Response {
    const kept = new Headers();
    for (const name of READ_HEADERS) {
      const value = headers[name];
      if (typeof value === 'string') kept.set(name, value);
    }
    // The SDK would wait beyond the deadline.
    if ((pauseIn(kept) ?? 0) >= this.timeLeftMs) kept.set('x-should-retry', 'false');
    // A response without content, such as 204, has no body.
    const bytes = body.length > 0 ? new Uint8Array(body) : null;
    return new Response(bytes, { status: Math.min(status, 599), headers: kept });
  }

  private get timeLeftMs(): number {
    return this.deadline - performance.now();
  }
}

const isOfNetwork = (error: unknown): error is UnreachableError | OutcomeUnknownError =>
  error instanceof UnreachableError || error instanceof OutcomeUnknownError;

function pauseIn(headers: Headers): number | undefined {
  return retryAfterMs(headers.get('retry-after') ?? undefined, new Date(presentTime()));
}

/** Condition under which the same question can succeed. */
type Remedy = 'time' | 'operator' | 'nothing';

/** https://platform.claude.com/docs/en/api/errors */
const STATUSES: Readonly<Record<number, readonly [UnavailableReason, Remedy]>> = {
  // These three statuses do not show if every question is wrong, or only this question, for example about a large incident.
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

/** Converts errors of the SDK and of the network to the reason for the missing verdict. Returns other errors unchanged. */
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

/** Omits the message of the provider, because a proxy may have written any text into it. */
function failureOfStatus(error: StatusError): ModelUnavailableError {
  const { status = 0, headers = new Headers(), error: body } = error;
  if (status === 400 && isAboutAccount(body)) {
    const message = 'The credit at the provider is used up, or its limit is reached (status 400).';
    const extras = { mayHelpLater: true, needsOperator: true };
    return new ModelUnavailableError('provider_error', message, extras);
  }
  // Other statuses mean an unknown model, an unpaid bill or a wrong URL, for every question.
  const usual = ['provider_error', status >= 500 ? 'time' : 'operator'] as const;
  const [reason, remedy] = STATUSES[status] ?? usual;
  const pauseMs = remedy === 'time' ? pauseIn(headers) : undefined;
  const message = `The provider answered with status ${status}.`;
  return new ModelUnavailableError(reason, message, {
    mayHelpLater: remedy !== 'nothing',
    needsOperator: remedy === 'operator',
    ...(pauseMs !== undefined && { retryAfterMs: Math.min(pauseMs, LONGEST_RETRY_AFTER_MS) }),
  });
}

/** The provider reports used up credit as an invalid request. A quoted incident never begins the message. */
function isAboutAccount(body: unknown): boolean {
  const isInvalid = valueAt(body, 'error', 'type') === 'invalid_request_error';
  const message = String(valueAt(body, 'error', 'message'));
  return isInvalid && /^(?:your credit balance is|you have reached your specified)/i.test(message);
}

/** Error for a response of 200 that is no message, such as the page of a proxy. For an invalid message, a retry may help. */
export function notAMessage(answer?: unknown): ModelUnavailableError {
  const needsOperator = valueAt(answer, 'type') !== 'message';
  const message = 'The server at ANTHROPIC_BASE_URL does not speak the Messages protocol.';
  return new ModelUnavailableError('invalid_answer', message, {
    mayHelpLater: true,
    needsOperator,
  });
}
