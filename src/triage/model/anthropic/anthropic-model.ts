import type Anthropic from '@anthropic-ai/sdk';
import { randomBytes } from 'node:crypto';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { SettingError } from '../../../platform/config/load-settings.js';
import type { Settings } from '../../../platform/config/settings.js';
import { type Span, traced } from '../../../platform/tracing/tracing.js';
import { type Prompt, promptFor, readVerdict, VERDICT_SCHEMA } from '../../prompts/prompt.js';
import { WORDS } from '../../prompts/prompt-texts.js';
import {
  fieldOf,
  type Judgement,
  type Judging,
  ModelUnavailableError,
  type ProposedVerdict,
  QUESTION_SCHEMA,
  type TokenUse,
  type TriageCase,
  TriageModel,
  type UnavailableReason,
} from '../triage-model.port.js';
import { type AnthropicOptions, notAMessage, ProviderRequests } from './provider-requests.js';
import { ToolAnswers } from './tool-answers.js';

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
  private readonly requests: ProviderRequests;
  private readonly prompt: Prompt;
  private readonly answers: ToolAnswers;
  private readonly messages: Anthropic.MessageParam[];
  private isRepaired = false;

  constructor(
    http: OutboundHttp,
    private readonly options: AnthropicOptions,
    given: TriageCase,
    private readonly judging: Judging,
  ) {
    const { tools, gate, signal } = judging;
    const nonce = randomBytes(16).toString('hex');
    this.requests = new ProviderRequests(http, options, gate, signal);
    this.prompt = promptFor(given, { nonce, tools });
    this.answers = new ToolAnswers(tools, given.indicators, nonce, signal);
    this.messages = [{ role: 'user', content: this.prompt.user }];
  }

  async judgement(): Promise<Judgement> {
    this.asks(this.options.model);
    for (let request = 1; request <= MOST_REQUESTS; request += 1) {
      const verdict = await this.take(await this.send());
      if (verdict) return { ...this.judging.meter.asked!, verdict, toolCalls: this.answers.calls };
    }
    throw useless('invalid_answer', `The model gave no verdict within ${MOST_REQUESTS} requests.`);
  }

  private asks(model: string): void {
    this.judging.meter.asked = { model, prompt_hash: this.prompt.prompt_hash };
  }

  private async send(): Promise<Message> {
    const { model } = this.options;
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': model,
    };
    return await traced(
      () => ({ name: `chat ${model}`, kind: 'client', attributes }),
      async (span) => this.read(await this.requests.send(this.params()), span),
    );
  }

  private read(answer: unknown, span: Span | undefined): Message {
    const tokens = tokensOf(answer);
    this.judging.meter.add(tokens);
    span?.note({
      'gen_ai.usage.input_tokens': tokens.input,
      'gen_ai.usage.output_tokens': tokens.output,
    });
    if (!isMessage(answer)) throw notAMessage(answer);
    const model: unknown = answer.model;
    if (typeof model === 'string' && MODEL.test(model)) {
      span?.note({ 'gen_ai.response.model': model });
      this.asks(model);
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
        throw useless('refused', 'The model refused to judge the incident.');
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

  private params(): Anthropic.MessageCreateParamsNonStreaming {
    const tools = this.judging.tools.map(({ name, description }) => {
      return {
        name,
        description,
        input_schema: { ...QUESTION_SCHEMA, required: ['indicator_id'] },
      };
    });
    return {
      model: this.options.model,
      max_tokens: MOST_OUTPUT_TOKENS,
      // Tools stand before the system prompt, so the mark caches both. They are the same for all incidents.
      system: [{ type: 'text', text: this.prompt.system, cache_control: { type: 'ephemeral' } }],
      output_config: { format: { type: 'json_schema', schema: VERDICT_SCHEMA } },
      messages: this.messages,
      ...(tools.length > 0 && {
        tools,
        tool_choice: { type: this.answers.exhausted ? 'none' : 'auto' },
      }),
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
  return content.every((block) => typeof fieldOf(block, 'type') === 'string');
}

/** A higher number is a mistake, and would use up the budget of the hour. The sum of all attempts must fit into an integer. */
const MOST_TOKENS = 1_000_000;

function tokensOf(answer: unknown): Required<TokenUse> {
  const usage = fieldOf(answer, 'usage');
  const count = (name: string): number => {
    const value = Number(fieldOf(usage, `${name}_tokens`));
    return Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS ? value : 0;
  };
  const cached_input = count('cache_read_input');
  const input = count('input') + count('cache_creation_input') + cached_input;
  return { input, output: count('output'), cached_input };
}

/** The model answered, and would answer the same question in the same way. */
function useless(reason: UnavailableReason, message: string): ModelUnavailableError {
  return new ModelUnavailableError(reason, message, { mayHelpLater: false });
}

/** Throws SettingError without a key. */
export function anthropicModel(settings: Settings, http: OutboundHttp): AnthropicModel {
  const { anthropicApiKey: apiKey, anthropicBaseUrl: baseUrl } = settings;
  if (apiKey === undefined) {
    throw new SettingError('TRIAGE_PROVIDER=anthropic requires ANTHROPIC_API_KEY.');
  }
  const { anthropicModel: model, triageTimeoutMs: timeoutMs } = settings;
  return new AnthropicModel(http, { apiKey, baseUrl, model, timeoutMs });
}
