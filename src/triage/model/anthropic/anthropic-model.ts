import Anthropic from '@anthropic-ai/sdk';
import { randomBytes } from 'node:crypto';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { type Span, traced } from '../../../platform/tracing/tracing.js';
import { type Prompt, promptFor, readVerdict, VERDICT_SCHEMA } from '../../prompts/prompt.js';
import { WORDS } from '../../prompts/prompt-texts.js';
import {
  fieldOf,
  type Judgement,
  type Judging,
  ModelUnavailableError,
  type ProposedVerdict,
  TokenMeter,
  type TriageCase,
  TriageModel,
  type UnavailableReason,
} from '../triage-model.port.js';
import { failureOf, gatedFetch, notAMessage } from './provider-requests.js';
import { ToolAnswers } from './tool-answers.js';

export interface AnthropicOptions {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly model: string;
  /** Time for one verdict, with all questions and retries. */
  readonly timeoutMs: number;
}

const NONCE_BYTES = 16;
/** Six rounds of questions, the verdict, one repair, and two pauses of the provider. */
const MOST_REQUESTS = 10;
/** A verdict has some hundred tokens; a model that thinks first needs more. */
const MOST_OUTPUT_TOKENS = 8_192;

/** A language model behind the Messages API. */
export class AnthropicModel extends TriageModel {
  readonly provider = 'anthropic';
  readonly asksOutside = true;

  constructor(
    private readonly http: OutboundHttp,
    private readonly options: AnthropicOptions,
  ) {
    super();
  }

  get configuredModel(): string {
    return this.options.model;
  }

  async judge(given: TriageCase, judging: Judging): Promise<Judgement> {
    return await new Conversation(this.http, this.options, given, judging).judgement();
  }
}

type Message = Anthropic.Message;

/** The questions and answers until there is a verdict. */
class Conversation {
  private readonly nonce = randomBytes(NONCE_BYTES).toString('hex');
  /** Aborted if the gate or the caller ends the run, so that the SDK does not retry. */
  private readonly ended = new AbortController();
  private readonly signal: AbortSignal;
  private readonly sdk: Anthropic;
  private readonly prompt: Prompt;
  private readonly answers: ToolAnswers;
  private readonly messages: Anthropic.MessageParam[];
  private readonly used = new TokenMeter();
  private model: string;
  private isRepaired = false;

  constructor(
    http: OutboundHttp,
    options: AnthropicOptions,
    given: TriageCase,
    private readonly judging: Judging,
  ) {
    const { apiKey, baseUrl: baseURL, timeoutMs: timeout } = options;
    const { tools, gate, signal } = judging;
    this.model = options.model;
    this.signal = AbortSignal.any([signal, this.ended.signal]);
    const fetch = gatedFetch(http, gate, this.signal, timeout, (why) => this.ended.abort(why));
    // The service has its own traces and logs.
    this.sdk = new Anthropic({
      apiKey,
      baseURL,
      timeout,
      fetch,
      openTelemetry: false,
      logLevel: 'off',
    });
    this.prompt = promptFor(given, { nonce: this.nonce, tools });
    this.answers = new ToolAnswers(tools, this.nonce, this.signal);
    this.messages = [{ role: 'user', content: this.prompt.user }];
  }

  async judgement(): Promise<Judgement> {
    const { prompt_hash } = this.prompt;
    const params = { ...this.params(), model: this.model };
    this.judging.meter.asks({ model: this.model, prompt_hash });
    for (let request = 1; request <= MOST_REQUESTS; request += 1) {
      const message = await this.send({ ...params, ...this.toolParams(), messages: this.messages });
      const verdict = await this.take(message);
      const { model, answers, used } = this;
      if (verdict)
        return { verdict, model, prompt_hash, tokens: used.tokens, toolCalls: answers.calls };
    }
    throw useless('invalid_answer', `The model gave no verdict within ${MOST_REQUESTS} requests.`);
  }

  private async send(params: Anthropic.MessageCreateParamsNonStreaming): Promise<Message> {
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': params.model,
    };
    return await traced(
      () => ({ name: `chat ${params.model}`, kind: 'client', attributes }),
      async (span) => {
        this.signal.throwIfAborted();
        try {
          return this.read(await this.sdk.messages.create(params, { signal: this.signal }), span);
        } catch (error) {
          this.judging.signal.throwIfAborted();
          throw failureOf(this.ended.signal.aborted ? this.ended.signal.reason : error);
        }
      },
    );
  }

  private read(answer: unknown, span: Span | undefined): Message {
    const tokens = tokensOf(answer);
    this.used.add(tokens);
    this.judging.meter.add(tokens);
    span?.note({
      'gen_ai.usage.input_tokens': tokens.input,
      'gen_ai.usage.output_tokens': tokens.output,
    });
    if (!isMessage(answer)) throw notAMessage(answer);
    const model: unknown = answer.model;
    if (typeof model === 'string' && MODEL.test(model)) {
      this.model = model;
      span?.note({ 'gen_ai.response.model': model });
      this.judging.meter.asks({ model, prompt_hash: this.prompt.prompt_hash });
    }
    return answer;
  }

  /** Undefined if the conversation continues. https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons */
  private async take(message: Message): Promise<ProposedVerdict | undefined> {
    switch (message.stop_reason) {
      case 'end_turn':
      case 'stop_sequence':
        return this.verdictIn(message);
      case 'tool_use': {
        const questions = message.content.filter((block) => block.type === 'tool_use');
        if (questions.length === 0 || this.answers.exhausted) {
          const problem = 'The model called a tool when no call was left, or without a question.';
          throw useless('invalid_answer', problem);
        }
        return this.goOn(message, await this.answers.answer(questions));
      }
      case 'pause_turn':
        return this.goOn(message);
      case 'max_tokens':
        throw useless('truncated', 'The answer of the model was cut: it is too long.');
      case 'model_context_window_exceeded':
        throw useless('truncated', 'The incident is too long for the model.');
      case 'refusal':
        throw useless('refused', refusalSentence(message));
      case null:
      default:
        throw useless('invalid_answer', 'The model stopped for an unknown reason.');
    }
  }

  private verdictIn(message: Message): ProposedVerdict | undefined {
    // Text before a question is not the answer.
    const last = message.content.findLast((block) => block.type === 'text');
    const verdict = readVerdict(last?.text);
    if (verdict) return verdict;
    if (this.isRepaired)
      throw useless('invalid_answer', 'The answers of the model do not match the schema.');
    this.isRepaired = true;
    return this.goOn(message, WORDS.repair);
  }

  private goOn({ content }: Message, reply?: Anthropic.MessageParam['content']): undefined {
    // The provider refuses an empty message.
    if (content.length === 0) throw useless('invalid_answer', 'The model answered nothing.');
    this.messages.push({ role: 'assistant', content });
    if (reply !== undefined) this.messages.push({ role: 'user', content: reply });
  }

  private params() {
    return {
      max_tokens: MOST_OUTPUT_TOKENS,
      // Tools stand before the system prompt, so the mark caches both. They are the same for all incidents.
      system: [
        { type: 'text', text: this.prompt.system, cache_control: { type: 'ephemeral' } } as const,
      ],
      output_config: { format: { type: 'json_schema', schema: VERDICT_SCHEMA } as const },
    };
  }

  private toolParams(): Pick<Anthropic.MessageCreateParams, 'tools' | 'tool_choice'> {
    const { tools } = this.judging;
    if (tools.length === 0) return {};
    return {
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: { ...inputSchema, type: 'object' },
      })),
      tool_choice: { type: this.answers.exhausted ? 'none' : 'auto' },
    };
  }
}

const MODEL = /^[\w.:@/-]{1,200}$/;
const MOST_BLOCKS = 200;

/** The SDK does not check answers, and a proxy may answer anything. */
function isMessage(answer: unknown): answer is Message {
  const content = fieldOf(answer, 'content');
  const hasReason = typeof fieldOf(answer, 'stop_reason') === 'string';
  if (!hasReason || !Array.isArray(content) || content.length > MOST_BLOCKS) return false;
  return content.every((block) => {
    const hasText = (name: string) => typeof fieldOf(block, name) === 'string';
    const type = fieldOf(block, 'type');
    if (type === 'text') return hasText('text');
    return hasText('type') && (type !== 'tool_use' || (hasText('id') && hasText('name')));
  });
}

/** A higher number is a mistake, and would use up the budget of the hour. The sum of all attempts must fit into an integer. */
const MOST_TOKENS = 1_000_000;

function tokensOf(answer: unknown): { input: number; output: number; cached_input: number } {
  const usage = fieldOf(answer, 'usage');
  const count = (name: string): number => {
    const value = fieldOf(usage, `${name}_tokens`);
    return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_TOKENS
      ? Number(value)
      : 0;
  };
  const cached_input = count('cache_read_input');
  const input = count('input') + count('cache_creation_input') + cached_input;
  return { input, output: count('output'), cached_input };
}

function refusalSentence({ stop_details }: Message): string {
  const category = fieldOf(stop_details, 'category');
  const isKnown = typeof category === 'string' && /^[a-z_]{1,40}$/.test(category);
  return `The model refused to judge the incident${isKnown ? ` (${category})` : ''}.`;
}

/** The model answered, and would answer the same question in the same way. */
function useless(reason: UnavailableReason, message: string): ModelUnavailableError {
  return new ModelUnavailableError(reason, message, { mayHelpLater: false });
}
