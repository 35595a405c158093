import type Anthropic from '@anthropic-ai/sdk';
import { Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { valueAt } from '../../../connectors/calls/vendor-answers.js';
import { unlessAborted } from '../../../platform/concurrency/within.js';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { type Span, traced } from '../../../platform/tracing/tracing.js';
import type { ExtractedIndicator } from '../../evidence/indicators.js';
import { plainJson } from '../../evidence/visible-text.js';
import {
  type Prompt,
  promptFor,
  readVerdict,
  VERDICT_SCHEMA,
  WORDS,
} from '../../prompts/prompt.js';
import {
  type Judgement,
  type Judging,
  ModelUnavailableError,
  type ProposedVerdict,
  QUESTION_SCHEMA,
  type TokenUse,
  type ToolCall,
  ToolError,
  type TriageCase,
  TriageModel,
  type TriageTool,
  type UnavailableReason,
} from '../triage-model.port.js';
import { type AnthropicSettings, notAMessage, ProviderRequests } from './provider-requests.js';

const MOST_QUESTIONS = 6;
const TOOL_TIME_MS = 5_000;
/** Maximum requests per run: six rounds of tool calls, the verdict, one repair, and two pauses of the provider. */
const MOST_REQUESTS = 10;
const MOST_OUTPUT_TOKENS = 8_192;

export class AnthropicModel extends TriageModel {
  readonly provider = 'anthropic';
  readonly asksOutside = true;

  constructor(
    private readonly settings: AnthropicSettings,
    private readonly http: OutboundHttp,
  ) {
    super();
  }

  get configuredModel(): string {
    return this.settings.anthropicModel;
  }

  async judge(given: TriageCase, judging: Judging): Promise<Judgement> {
    return await new Conversation(this.http, this.settings, given, judging).judgement();
  }
}

type Message = Anthropic.Message;
type Question = Pick<Anthropic.ToolUseBlock, 'id' | 'name' | 'input'>;
type Result = Anthropic.ToolResultBlockParam;

class Conversation {
  private readonly requests: ProviderRequests;
  private readonly prompt: Prompt;
  private readonly answers: ToolAnswers;
  private readonly messages: Anthropic.MessageParam[];
  private isRepaired = false;

  constructor(
    http: OutboundHttp,
    private readonly settings: AnthropicSettings,
    given: TriageCase,
    private readonly judging: Judging,
  ) {
    const { tools, gate, signal } = judging;
    const nonce = randomBytes(16).toString('hex');
    this.requests = new ProviderRequests(http, settings, gate, signal);
    this.prompt = promptFor(given, { nonce, tools });
    this.answers = new ToolAnswers(tools, given.indicators, nonce, signal);
    this.messages = [{ role: 'user', content: this.prompt.user }];
  }

  async judgement(): Promise<Judgement> {
    this.asks(this.settings.anthropicModel);
    for (let request = 1; request <= MOST_REQUESTS; request += 1) {
      const verdict = await this.take(await this.send());
      if (verdict) return { ...this.judging.meter.asked!, verdict, tool_calls: this.answers.calls };
    }
    throw useless('invalid_answer', `The model gave no verdict within ${MOST_REQUESTS} requests.`);
  }

  private asks(model: string): void {
    this.judging.meter.asked = { model, prompt_hash: this.prompt.prompt_hash };
  }

  private async send(): Promise<Message> {
    const { anthropicModel: model } = this.settings;
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': model,
    };
    const send = async (span: Span | undefined) => {
      const answer = await this.requests.send(this.params());
      const tokens = tokensOf(answer);
      const { input, output } = tokens;
      this.judging.meter.add(tokens);
      span?.note({ 'gen_ai.usage.input_tokens': input, 'gen_ai.usage.output_tokens': output });
      if (!isMessage(answer)) throw notAMessage(answer);
      const named: unknown = answer.model;
      if (typeof named === 'string' && MODEL.test(named)) this.asks(named);
      span?.note({ 'gen_ai.response.model': this.judging.meter.asked?.model });
      return answer;
    };
    return await traced(() => ({ name: `chat ${model}`, kind: 'client', attributes }), send);
  }

  /** `undefined`: the model continues. https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons */
  private async take({ stop_reason, content }: Message): Promise<ProposedVerdict | undefined> {
    const isEnd = stop_reason === 'end_turn' || stop_reason === 'stop_sequence';
    if (!isEnd && stop_reason !== 'tool_use' && stop_reason !== 'pause_turn') {
      throw useless(...(STOPPED[stop_reason ?? ''] ?? UNKNOWN_STOP));
    }
    // The last text is the verdict. Text before a tool call is not.
    const last = content.findLast((block) => block.type === 'text');
    const verdict = isEnd ? readVerdict(last?.text) : undefined;
    if (verdict) return verdict;
    // An empty message cannot be sent back, because the provider rejects it.
    if (content.length === 0) throw useless('invalid_answer', 'The model answered nothing.');
    if (isEnd && this.isRepaired) {
      throw useless('invalid_answer', 'The answers of the model do not match the schema.');
    }
    this.isRepaired ||= isEnd;
    const questions = content.filter((block) => block.type === 'tool_use');
    if (stop_reason === 'tool_use' && (questions.length === 0 || this.answers.exhausted)) {
      const problem = 'The model called a tool when no call was left, or without a question.';
      throw useless('invalid_answer', problem);
    }
    const reply = isEnd ? WORDS.repair : await this.answers.answer(questions);
    this.messages.push({ role: 'assistant', content });
    if (stop_reason !== 'pause_turn') this.messages.push({ role: 'user', content: reply });
    return undefined;
  }

  private params(): Anthropic.MessageCreateParamsNonStreaming {
    const tools = this.judging.tools.map(({ name, description }) => {
      return { name, description, input_schema: QUESTION_SCHEMA };
    });
    return {
      model: this.settings.anthropicModel,
      max_tokens: MOST_OUTPUT_TOKENS,
      // The cache mark includes the tools, which come before the system prompt. Both are the same for all incidents.
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

type Why = readonly [UnavailableReason, string];
const STOPPED: Readonly<Record<string, Why>> = {
  max_tokens: ['truncated', 'The answer of the model was cut: it is too long.'],
  model_context_window_exceeded: ['truncated', 'The incident is too long for the model.'],
  refusal: ['refused', 'The model refused to judge the incident.'],
};
const UNKNOWN_STOP: Why = ['invalid_answer', 'The model stopped for an unknown reason.'];

function useless(...[reason, message]: Why): ModelUnavailableError {
  return new ModelUnavailableError(reason, message, 'nothing');
}

const MODEL = /^[\w.:@/-]{1,200}$/;
const MOST_BLOCKS = 200;

/** Checks the response, because the SDK does not, and a proxy may respond with any content. */
function isMessage(answer: unknown): answer is Message {
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

export class ToolAnswers {
  readonly calls: ToolCall[] = [];
  private readonly log = new Logger('Triage');

  constructor(
    private readonly tools: readonly TriageTool[],
    private readonly indicators: readonly ExtractedIndicator[],
    private readonly nonce: string,
    private readonly signal: AbortSignal,
    private readonly timeMs = TOOL_TIME_MS,
  ) {}

  get exhausted(): boolean {
    return this.calls.length >= MOST_QUESTIONS;
  }

  /** Answers every question, because the provider rejects a message in which an answer is missing. */
  async answer(questions: readonly Question[]): Promise<Result[]> {
    const first = this.calls.length + 1;
    const asked = questions.slice(0, MOST_QUESTIONS - this.calls.length);
    const calls = await Promise.all(asked.map((one, at) => this.ask(`t${first + at}`, one)));
    this.calls.push(...calls);
    return questions.map(({ id }, at): Result => {
      const call = calls[at];
      const content = call ? this.fenced(call) : WORDS.noQuestionsLeft;
      const isError = !call || call.failed;
      return { type: 'tool_result', tool_use_id: id, content, ...(isError && { is_error: true }) };
    });
  }

  private async ask(id: string, { name, input }: Question): Promise<ToolCall> {
    const begun = performance.now();
    const tool = this.tools.find((known) => known.name === name);
    const wanted = valueAt(input, 'indicator_id');
    const indicator = this.indicators.find((one) => one.id === wanted);
    const answered = async () => {
      if (!tool) throw new ToolError(WORDS.noSuchTool);
      if (!indicator) throw new ToolError(WORDS.wrongInput);
      const over = AbortSignal.any([this.signal, AbortSignal.timeout(this.timeMs)]);
      return { output: await unlessAborted(over, tool.ask(indicator)) };
    };
    const failed = (err: unknown) => {
      const isAnswer = err instanceof ToolError;
      if (!isAnswer && !this.signal.aborted) {
        this.log.warn({ err, tool: tool?.name }, 'A question of the model was not answered.');
      }
      return { output: { error: isAnswer ? err.message : WORDS.notAnswered }, failed: true };
    };
    return {
      ...{ id, tool: tool?.name ?? 'unknown' },
      input: indicator ? { indicator_id: indicator.id } : {},
      ...(await answered().catch(failed)),
      duration_ms: Math.round(performance.now() - begun),
    };
  }

  private fenced({ id, output }: ToolCall): string {
    const words = WORDS.toolAnswer.replaceAll('{id}', id);
    return `${words}\n<${id}-${this.nonce}>\n${plainJson(output)}\n</${id}-${this.nonce}>`;
  }
}
