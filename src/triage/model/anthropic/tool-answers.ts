import type Anthropic from '@anthropic-ai/sdk';
import { Logger } from '@nestjs/common';
import { unlessAborted, withDeadline } from '../../../platform/concurrency/within.js';
import type { ExtractedIndicator } from '../../evidence/indicators.js';
import { harmlessJson } from '../../evidence/visible-text.js';
import { WORDS } from '../../prompts/prompt-texts.js';
import { storedJson } from '../../records/stored-json.js';
import { fieldOf, type ToolCall, ToolError, type TriageTool } from '../triage-model.port.js';

/** Limits of one verdict. */
const MOST_QUESTIONS = 6;
const LONGEST_ANSWER_BYTES = 10 * 1024;
const TOOL_TIME_MS = 5_000;

type Question = Pick<Anthropic.ToolUseBlock, 'id' | 'name' | 'input'>;
type Result = Anthropic.ToolResultBlockParam;

/** Answers the questions of one conversation. */
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

  /** The provider refuses a message that leaves out an answer. */
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
    const start = performance.now();
    const tool = this.tools.find((known) => known.name === name);
    const wanted = fieldOf(input, 'indicator_id');
    const indicator = this.indicators.find((one) => one.id === wanted);
    const answer = await this.answerOf(tool, indicator);
    const duration_ms = Math.round(performance.now() - start);
    const asked = indicator ? { indicator_id: indicator.id } : {};
    return { id, tool: tool?.name ?? 'unknown', input: asked, ...answer, duration_ms };
  }

  /** An error of the service is only in the log. */
  private async answerOf(
    tool: TriageTool | undefined,
    indicator: ExtractedIndicator | undefined,
  ): Promise<Pick<ToolCall, 'output' | 'failed'>> {
    if (!tool) return failed(WORDS.noSuchTool);
    if (!indicator) return failed(WORDS.wrongInput);
    try {
      const output = await withDeadline(this.timeMs, this.signal, (over) =>
        unlessAborted(over, tool.ask(indicator)),
      );
      return { output: cutToSize(output) };
    } catch (error) {
      if (error instanceof ToolError) return failed(error.message);
      if (!this.signal.aborted) {
        this.log.warn({ err: error, tool: tool.name }, 'A question of the model was not answered.');
      }
      return failed(WORDS.notAnswered);
    }
  }

  /** An attacker may have written the answer, so it stands between marks. */
  private fenced({ id, output }: ToolCall): string {
    const words = WORDS.toolAnswer.replaceAll('{id}', id);
    return `${words}\n<${id}-${this.nonce}>\n${harmlessJson(output)}\n</${id}-${this.nonce}>`;
  }
}

const failed = (error: string) => ({ output: { error }, failed: true }) as const;

/** Halves the answer until its JSON is short enough. */
function cutToSize(answer: object): unknown {
  for (let characters = LONGEST_ANSWER_BYTES; characters > 0; characters >>= 1) {
    const cut = storedJson(answer, characters);
    if (Buffer.byteLength(harmlessJson(cut)) <= LONGEST_ANSWER_BYTES) return cut;
  }
  return null;
}
