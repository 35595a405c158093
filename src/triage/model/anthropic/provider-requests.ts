import Anthropic from '@anthropic-ai/sdk';
import { valueAt } from '../../../connectors/calls/vendor-answers.js';
import { presentTime } from '../../../platform/clock.js';
import type { Settings } from '../../../platform/config/settings.js';
import { OutcomeUnknownError, UnreachableError } from '../../../platform/net/net.errors.js';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { retryAfterMs } from '../../../platform/net/outbound-request.js';
import { traced } from '../../../platform/tracing/tracing.js';
import {
  type Judging,
  ModelUnavailableError,
  type Remedy,
  type TokenUse,
  type UnavailableReason,
} from '../triage-model.port.js';

export type AnthropicSettings = Pick<
  Settings,
  'anthropicApiKey' | 'anthropicBaseUrl' | 'anthropicModel' | 'triageTimeoutMs'
>;

/** Headers that are sent. The other headers of the SDK describe this machine. */
const SENT_HEADERS = ['accept', 'anthropic-version', 'authorization', 'content-type'];
const READ_HEADERS = ['content-type', 'retry-after', 'retry-after-ms'];

export class ProviderRequests {
  /** Aborted if the SDK must not retry: the permit check failed, the time is over, or the target is forbidden. */
  private readonly ended = new AbortController();
  private readonly deadline: number;
  private readonly sdk: Anthropic;

  constructor(
    private readonly http: OutboundHttp,
    settings: AnthropicSettings,
    private readonly judging: Judging,
  ) {
    const { anthropicApiKey: apiKey, anthropicBaseUrl: baseURL } = settings;
    const { triageTimeoutMs: timeout } = settings;
    this.deadline = performance.now() + timeout;
    const fetch: typeof globalThis.fetch = (...request) => this.fetch(new Request(...request));
    const quiet = { openTelemetry: false, logLevel: 'off' } as const;
    this.sdk = new Anthropic({ apiKey, baseURL, timeout, fetch, ...quiet });
  }

  /** Also records the tokens of the response, and the model that the response names. */
  async send(params: Anthropic.MessageCreateParamsNonStreaming): Promise<Anthropic.Message> {
    const { meter } = this.judging;
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': params.model,
    };
    return await traced(
      () => ({ name: `chat ${params.model}`, kind: 'client', attributes }),
      async (span) => {
        const answer = await this.answerTo(params);
        const tokens = tokensOf(answer);
        const { input, output } = tokens;
        meter.add(tokens);
        span?.note({ 'gen_ai.usage.input_tokens': input, 'gen_ai.usage.output_tokens': output });
        if (!isMessage(answer)) throw notAMessage(answer);
        const model: unknown = answer.model;
        const isName = typeof model === 'string' && MODEL.test(model);
        if (meter.asked && isName) meter.asked = { ...meter.asked, model };
        span?.note({ 'gen_ai.response.model': meter.asked?.model });
        return answer;
      },
    );
  }

  private async answerTo(params: Anthropic.MessageCreateParamsNonStreaming): Promise<unknown> {
    const { signal } = this.judging;
    const over = AbortSignal.any([signal, this.ended.signal]);
    try {
      return await this.sdk.messages.create(params, { signal: over });
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(over.aborted ? over.reason : error);
    }
  }

  private async fetch(request: Request): Promise<Response> {
    const { method, url, headers } = request;
    const body = await request.text();
    try {
      const answer = await this.judging.gate.send((departure) =>
        this.http.request({
          ...{ method, url: new URL(url), body },
          headers: Object.fromEntries([...headers].filter(([name]) => SENT_HEADERS.includes(name))),
          timeoutMs: Math.max(1, this.timeLeftMs),
          operatorsTarget: true,
          signal: this.judging.signal,
          beforeLeaving: () => departure.leave(),
        }),
      );
      const read = new Headers(
        READ_HEADERS.map((name): [string, string] => [name, answer.header(name) ?? '']),
      );
      if ((pauseIn(read) ?? 0) >= this.timeLeftMs) read.set('x-should-retry', 'false');
      const content = answer.body.length > 0 ? new Uint8Array(answer.body) : null;
      return new Response(content, { status: Math.min(answer.status, 599), headers: read });
    } catch (error) {
      const mayRetry =
        (error instanceof UnreachableError && error.temporary) ||
        (error instanceof OutcomeUnknownError && error.reason === 'broken');
      if (!mayRetry) this.ended.abort(error);
      throw error;
    }
  }

  private get timeLeftMs(): number {
    return this.deadline - performance.now();
  }
}

const MODEL = /^[\w.:@/-]{1,200}$/;
const MOST_BLOCKS = 200;

/** Checks the response, because the SDK does not, and a proxy may respond with any content. */
function isMessage(answer: unknown): answer is Anthropic.Message {
  const content = valueAt(answer, 'content');
  const hasReason = typeof valueAt(answer, 'stop_reason') === 'string';
  if (!hasReason || !Array.isArray(content) || content.length > MOST_BLOCKS) return false;
  return content.every((block) => typeof valueAt(block, 'type') === 'string');
}

/** A higher number would use up the hourly budget, and the sum of all attempts must fit into an integer. */
const MOST_TOKENS = 1_000_000;

function tokensOf(answer: unknown): TokenUse {
  const count = (name: string): number => {
    const value = Number(valueAt(answer, 'usage', `${name}_tokens`));
    return Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS ? value : 0;
  };
  const cached_input = count('cache_read_input');
  const input = count('input') + count('cache_creation_input') + cached_input;
  return { input, output: count('output'), cached_input };
}

function pauseIn(headers: Headers): number | undefined {
  return retryAfterMs(headers.get('retry-after') ?? undefined, new Date(presentTime()));
}

/** https://platform.claude.com/docs/en/api/errors */
function meaningOf(status: number): readonly [UnavailableReason, Remedy] {
  if (status === 401 || status === 403) return ['authentication', 'operator'];
  if (status === 429) return ['rate_limited', 'time'];
  if (status === 529) return ['overloaded', 'time'];
  // These statuses do not show whether every question fails or only this question, such as for a large incident.
  if (status === 400 || status === 413 || status === 422) return ['provider_error', 'nothing'];
  if (status === 408 || status === 409 || status >= 500) return ['provider_error', 'time'];
  // Any other status affects every question: for example, an unknown model, an unpaid bill or a wrong URL.
  return ['provider_error', 'operator'];
}

const LONGEST_RETRY_AFTER_MS = 60 * 60_000;

function failureOf(error: unknown): unknown {
  if (error instanceof UnreachableError) {
    const remedy = error.temporary ? 'time' : 'operator';
    const message = 'The provider cannot be reached.';
    return new ModelUnavailableError('unreachable', message, remedy, { cause: error });
  }
  if (error instanceof OutcomeUnknownError) {
    const [reason, message] =
      error.reason === 'timeout'
        ? (['timeout', 'The provider took too long.'] as const)
        : (['provider_error', 'The response of the provider is incomplete.'] as const);
    return new ModelUnavailableError(reason, message, 'time', { cause: error });
  }
  // For a connection timeout, the SDK gives no cause.
  if (error instanceof Anthropic.APIConnectionError) {
    return failureOf(error.cause ?? new UnreachableError(error.message));
  }
  if (error instanceof Anthropic.APIError) return failureOfStatus(error as StatusError);
  return error instanceof SyntaxError ? notAMessage() : error;
}

type StatusError = InstanceType<typeof Anthropic.APIError>;

/** Omits the message of the provider, because a proxy may have written any text into it. */
function failureOfStatus({ status = 0, headers, error: body }: StatusError): ModelUnavailableError {
  if (status === 400 && isAboutAccount(body)) {
    const message = 'The credit at the provider is used up, or its limit is reached (status 400).';
    return new ModelUnavailableError('provider_error', message, 'operator');
  }
  const [reason, remedy] = meaningOf(status);
  const pauseMs = remedy === 'time' && headers ? pauseIn(headers) : undefined;
  const message = `The provider answered with status ${status}.`;
  return new ModelUnavailableError(reason, message, remedy, {
    retryAfterMs: pauseMs && Math.min(pauseMs, LONGEST_RETRY_AFTER_MS),
  });
}

/** True if the account has no credit. Matches only the start of the message, which never quotes an incident. */
function isAboutAccount(body: unknown): boolean {
  const isInvalid = valueAt(body, 'error', 'type') === 'invalid_request_error';
  const message = String(valueAt(body, 'error', 'message'));
  return isInvalid && /^(?:your credit balance is|you have reached your specified)/i.test(message);
}

/** Returns the error for status 200 without a valid message, such as a page of a proxy. */
function notAMessage(answer?: unknown): ModelUnavailableError {
  const remedy = valueAt(answer, 'type') === 'message' ? 'time' : 'operator';
  const message = 'The server at ANTHROPIC_BASE_URL does not speak the Messages protocol.';
  return new ModelUnavailableError('invalid_answer', message, remedy);
}
