import type Anthropic from '@anthropic-ai/sdk';
import { Logger } from '@nestjs/common';
import { unlessAborted } from '../../../platform/concurrency/within.js';
import { harmlessJson } from '../../evidence/visible-text.js';
import { WORDS } from '../../prompts/prompt-texts.js';
import { MOST_QUESTIONS, type ToolCall, ToolError, type TriageTool } from '../triage-model.port.js';

/** An input only has ids of indicators. */
const MOST_INPUT_CHARACTERS = 2_000;

type Question = Pick<Anthropic.ToolUseBlock, 'id' | 'name' | 'input'>;
type Result = Anthropic.ToolResultBlockParam;

/** Answers the questions of one conversation. */
export class ToolAnswers {
  readonly calls: ToolCall[] = [];
  private readonly log = new Logger('Triage');

  constructor(
    private readonly tools: readonly TriageTool[],
    private readonly nonce: string,
    private readonly signal: AbortSignal,
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

  private async ask(id: string, { name, input: given }: Question): Promise<ToolCall> {
    const start = performance.now();
    const input = readInput(given);
    const tool = this.tools.find((known) => known.name === name);
    const answer = await this.answerOf(tool, input);
    const duration_ms = Math.round(performance.now() - start);
    return { id, tool: tool?.name ?? 'unknown', input: input ?? {}, ...answer, duration_ms };
  }

  /** An error of the service is only in the log. */
  private async answerOf(
    tool: TriageTool | undefined,
    input: ToolCall['input'] | undefined,
  ): Promise<Pick<ToolCall, 'output' | 'failed'>> {
    if (!tool) return failed(WORDS.noSuchTool);
    if (!input) return failed(WORDS.wrongInput);
    try {
      const output = await unlessAborted(this.signal, tool.ask(input, this.signal));
      return output === undefined ? failed(WORDS.notAnswered) : { output };
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

/** Undefined if no tool can take the input: ids have only printable ASCII characters. */
function readInput(given: unknown): ToolCall['input'] | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  const json = JSON.stringify(given);
  const isPlain = json.length <= MOST_INPUT_CHARACTERS && /^[\x20-\x5b\x5d-\x7e]*$/.test(json);
  return isPlain ? (given as ToolCall['input']) : undefined;
}
