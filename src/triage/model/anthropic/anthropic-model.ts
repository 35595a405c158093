import type Anthropic from '@anthropic-ai/sdk';
import { Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { valueAt } from '../../../connectors/calls/vendor-answers.js';
import { unlessAborted } from '../../../platform/concurrency/within.js';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';
import type { ExtractedIndicator } from '../../evidence/indicators.js';
import { plainJson } from '../../evidence/visible-text.js';
import {
  fenced,
  promptFor,
  readVerdict,
  SYSTEM_PROMPT,
  VERDICT_SCHEMA,
  WORDS,
} from '../../prompts/prompt.js';
import {
  type Judgement,
  type Judging,
  ModelUnavailableError,
  QUESTION_SCHEMA,
  type ToolCall,
  ToolError,
  type TriageCase,
  TriageModel,
  type TriageTool,
  type UnavailableReason,
} from '../triage-model.port.js';
import { type AnthropicSettings, ProviderRequests } from './provider-requests.js';

const MOST_QUESTIONS = 6;
const TOOL_TIME_MS = 5_000;
const MOST_OUTPUT_TOKENS = 8_192;

type Question = Pick<Anthropic.ToolUseBlock, 'id' | 'name' | 'input'>;
type Result = Anthropic.ToolResultBlockParam;

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

  /** Ends after at most six answers with questions, one with the verdict and one repair. */
  async judge(given: TriageCase, judging: Judging): Promise<Judgement> {
    const { tools, signal, meter } = judging;
    const nonce = randomBytes(16).toString('hex');
    const { user, prompt_hash } = promptFor(given, { nonce, tools });
    meter.asked = { model: this.configuredModel, prompt_hash };
    const requests = new ProviderRequests(this.http, this.settings, judging);
    const answers = new ToolAnswers(tools, given.indicators, nonce, signal);
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: user }];
    let isRepaired = false;
    for (;;) {
      const { stop_reason, content } = await requests.send({
        model: this.configuredModel,
        max_tokens: MOST_OUTPUT_TOKENS,
        // The cache mark includes the tools, which come before the system prompt.
        system: [{ type: 'text', text: SYSTEM_PROMPT, cache_control: { type: 'ephemeral' } }],
        output_config: { format: { type: 'json_schema', schema: VERDICT_SCHEMA } },
        messages,
        ...answers.offer,
      });
      let reply: string | Result[] = WORDS.repair;
      if (stop_reason === 'tool_use') {
        const questions = content.filter((block) => block.type === 'tool_use');
        if (questions.length === 0 || answers.exhausted) throw useless(...NO_QUESTION);
        reply = await answers.answer(questions);
      } else if (stop_reason === 'end_turn') {
        // The last text is the verdict. The provider rejects an empty message, so it cannot be sent back.
        const verdict = readVerdict(content.findLast((block) => block.type === 'text')?.text);
        if (verdict) return { ...meter.asked, verdict, tool_calls: answers.calls };
        if (content.length === 0) throw useless(...NO_ANSWER);
        if (isRepaired) throw useless(...NO_VERDICT);
        isRepaired = true;
      } else throw useless(...(STOPPED[stop_reason ?? ''] ?? UNKNOWN_STOP));
      messages.push({ role: 'assistant', content }, { role: 'user', content: reply });
    }
  }
}

type Why = readonly [UnavailableReason, string];
/** https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons */
const STOPPED: Readonly<Record<string, Why>> = {
  max_tokens: ['truncated', 'The answer of the model was cut: it is too long.'],
  model_context_window_exceeded: ['truncated', 'The incident is too long for the model.'],
  refusal: ['refused', 'The model refused to judge the incident.'],
};
const UNKNOWN_STOP: Why = ['invalid_answer', 'The model stopped for an unknown reason.'];
const NO_ANSWER: Why = ['invalid_answer', 'The model answered nothing.'];
const NO_VERDICT: Why = ['invalid_answer', 'The answers of the model do not match the schema.'];
const NO_QUESTION: Why = [
  'invalid_answer',
  'The model called a tool when no call was left, or without a question.',
];

const useless = (...[reason, message]: Why) =>
  new ModelUnavailableError(reason, message, 'nothing');

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

  get offer(): Pick<Anthropic.MessageCreateParams, 'tools' | 'tool_choice'> {
    if (this.tools.length === 0) return {};
    const tools = this.tools.map(({ name, description }) => {
      return { name, description, input_schema: QUESTION_SCHEMA };
    });
    return { tools, tool_choice: { type: this.exhausted ? 'none' : 'auto' } };
  }

  /** Answers every question, because the provider rejects a message in which an answer is missing. */
  async answer(questions: readonly Question[]): Promise<Result[]> {
    const first = this.calls.length + 1;
    const asked = questions.slice(0, MOST_QUESTIONS - this.calls.length);
    const calls = await Promise.all(asked.map((one, at) => this.ask(`t${first + at}`, one)));
    this.calls.push(...calls);
    return questions.map(({ id: tool_use_id }, at): Result => {
      const result = { type: 'tool_result', tool_use_id } as const;
      const call = calls[at];
      if (!call) return { ...result, content: WORDS.noQuestionsLeft, is_error: true };
      const { id, output, failed } = call;
      const answer = fenced(id, this.nonce, plainJson(output));
      const content = `${WORDS.toolAnswer.replaceAll('{id}', id)}\n${answer}`;
      return { ...result, content, ...(failed && { is_error: true }) };
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
        this.log.warn({ err, tool: name }, 'A question of the model was not answered.');
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
}
