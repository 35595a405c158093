import { setTimeout as sleep } from 'node:timers/promises';
import Anthropic from '@anthropic-ai/sdk';
import type { Gate } from '../../../platform/net/outbound-request.js';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { type Span, traced } from '../../../platform/tracing/tracing.js';
import {
  type Judging,
  ModelUnavailableError,
  NO_TOKENS,
  sumOfTokens,
  tokensOf,
  type UnavailableReason,
} from '../triage-model.port.js';
import { gatedFetch, isOfNetwork } from './gated-fetch.js';
import { failureOfNetwork, failureOfStatus, noMessage, timeIsUp } from './provider-failure.js';
import { type ProviderMessage, readMessage } from './provider-message.js';

export interface AnthropicOptions {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly model: string;
  /** For one verdict, with all questions and retries. */
  readonly timeoutMs: number;
  /** Before the second attempt, doubled before the third. */
  readonly firstPauseMs?: number;
}

export type MessageParams = Anthropic.MessageCreateParamsNonStreaming;

const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 500;

/** Asking again soon may help. A provider that is too slow has no time left, and a wrong answer was paid for. */
const REPEATED: readonly UnavailableReason[] = [
  'rate_limited',
  'overloaded',
  'provider_error',
  'unreachable',
];

/** The requests for one verdict: they share a deadline and a gate, and their tokens are added up. */
export class ProviderRequests {
  /** Of all requests, also of those whose answer is of no use. */
  tokens = NO_TOKENS;
  private readonly deadline: number;
  /** Aborted when there is no time left, or when nobody waits for the verdict any more. */
  readonly signal: AbortSignal;
  private readonly sdk: Anthropic;
  /** What our own `fetch` threw last: the library wraps it, and it has to come through as it was. */
  private thrown: { readonly error: unknown } | undefined;

  constructor(
    private readonly options: AnthropicOptions,
    http: OutboundHttp,
    gate: Gate,
    signal: AbortSignal,
    private readonly meter?: Judging['meter'],
  ) {
    this.deadline = performance.now() + options.timeoutMs;
    this.signal = AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]);
    const fetch = gatedFetch(http, gate, this.signal, () => this.timeLeftMs);
    this.sdk = new Anthropic({
      // What is given here is not looked for in the environment or in profiles on the disk.
      apiKey: options.apiKey,
      baseURL: options.baseUrl,
      webhookKey: null,
      timeout: options.timeoutMs,
      maxRetries: 0,
      openTelemetry: false,
      logLevel: 'off',
      fetch: async (...request) => {
        try {
          return await fetch(...request);
        } catch (error) {
          this.thrown = { error };
          throw error;
        }
      },
    });
  }

  /** Throws ModelUnavailableError, what the gate throws, and the signal's reason when somebody gave the verdict up. */
  async send(params: MessageParams): Promise<{ message: ProviderMessage; answer: unknown }> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.tracedAttempt(params);
      } catch (error) {
        const pauseMs = this.pauseAfter(error, attempt);
        if (pauseMs === undefined) throw error;
        await this.pause(pauseMs);
      }
    }
  }

  private count(answer: unknown, span: Span | undefined): void {
    const tokens = tokensOf(answer);
    span?.note({
      'gen_ai.usage.input_tokens': tokens.input,
      'gen_ai.usage.output_tokens': tokens.output,
    });
    this.tokens = sumOfTokens(this.tokens, tokens);
    this.meter?.add(tokens);
  }

  private get timeLeftMs(): number {
    return Math.max(1, this.deadline - performance.now());
  }

  private assertWanted(): void {
    if (this.signal.aborted) throw asTimeout(this.signal.reason);
  }

  private tracedAttempt(params: MessageParams): ReturnType<ProviderRequests['send']> {
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': params.model,
    };
    return traced(
      () => ({ name: `chat ${params.model}`, kind: 'client', attributes }),
      (span) => this.attempt(params, span),
    );
  }

  private async attempt(
    params: MessageParams,
    span: Span | undefined,
  ): ReturnType<ProviderRequests['send']> {
    this.assertWanted();
    this.thrown = undefined;
    let answer: unknown;
    try {
      answer = await this.sdk.messages.create(params, {
        signal: this.signal,
        // Of the request itself, because ANTHROPIC_CUSTOM_HEADERS in the environment overrules the key of the client.
        headers: { authorization: `Bearer ${this.options.apiKey}` },
      });
    } catch (error) {
      throw this.failureOf(error, span);
    }
    this.count(answer, span);
    const message = readMessage(answer);
    if (!message) throw noMessage(answer);
    span?.note({ 'gen_ai.response.model': message.model });
    return { message, answer };
  }

  private failureOf(error: unknown, span: Span | undefined): unknown {
    const ofGate = this.thrown && !isOfNetwork(this.thrown.error) ? this.thrown : undefined;
    if (ofGate && ofGate.error !== this.signal.reason) return ofGate.error;
    if (this.signal.aborted) return asTimeout(this.signal.reason);
    if (this.thrown && isOfNetwork(this.thrown.error)) return failureOfNetwork(this.thrown.error);
    if (!(error instanceof Anthropic.APIError)) return noMessage();
    const { status, headers, error: body } = error as InstanceType<typeof Anthropic.APIError>;
    if (status === undefined || headers === undefined) return noMessage();
    this.count(body, span);
    return failureOfStatus({ status, headers, body });
  }

  /** Undefined when there is to be no further attempt. A provider that asks for more time than there is gets none. */
  private pauseAfter(error: unknown, attempt: number): number | undefined {
    if (!(error instanceof ModelUnavailableError) || attempt === ATTEMPTS) return undefined;
    const { mayHelpLater, needsOperator = false, retryAfterMs } = error.extras;
    if (!mayHelpLater || needsOperator || !REPEATED.includes(error.reason)) return undefined;
    const { firstPauseMs = FIRST_PAUSE_MS } = this.options;
    const usual = firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random());
    const pauseMs = Math.max(retryAfterMs ?? 0, usual);
    return pauseMs < this.timeLeftMs ? pauseMs : undefined;
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal }).catch(() => this.assertWanted());
  }
}

/** A deadline is an outcome that a run can tell of; any other reason of an abort stays what it is. */
function asTimeout(reason: unknown): unknown {
  const { name } = (reason ?? {}) as { readonly name?: unknown };
  return name === 'TimeoutError' ? timeIsUp(reason) : reason;
}
