import type Anthropic from '@anthropic-ai/sdk';
import { Logger } from '@nestjs/common';
import { unlessAborted } from '../../../platform/concurrency/within.js';
import { WORDS } from '../../prompts/prompt-texts.js';
import { harmlessJson } from '../../prompts/plain-json.js';
import { MOST_QUESTIONS, type ToolCall, ToolError, type TriageTool } from '../triage-model.port.js';
import type { Question } from './provider-message.js';

/** An input has ids of indicators and nothing else. */
const MOST_INPUT_CHARACTERS = 2_000;

type Shown = Pick<Anthropic.ToolResultBlockParam, 'content' | 'is_error'>;

/** The questions that a model asks for one verdict, and what it is told. The tools bound how long an answer is. */
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

  /** Answers each question of one message, because the provider takes no message that leaves one out. */
  async answer(questions: readonly Question[]): Promise<Anthropic.ToolResultBlockParam[]> {
    const taken = questions.slice(0, MOST_QUESTIONS - this.calls.length);
    const first = this.calls.length + 1;
    const asked = await Promise.all(
      taken.map((question, index) => this.ask(`t${first + index}`, question)),
    );
    const answered = asked.map((one) => this.show(one));
    return questions.map(({ id }, index) => ({
      type: 'tool_result',
      tool_use_id: id,
      ...(answered[index] ?? { content: WORDS.noQuestionsLeft, is_error: true }),
    }));
  }

  private async ask(id: string, { name, input: given }: Question): Promise<ToolCall> {
    const start = performance.now();
    const input = readInput(given);
    const tool = this.tools.find((known) => known.name === name);
    const answer = await this.answerOf(tool, input);
    return {
      id,
      tool: tool?.name ?? 'unknown',
      input: input ?? {},
      ...answer,
      durationMs: Math.round(performance.now() - start),
    };
  }

  /** What the tool says. Where it says nothing, why: in its own words, and a fault of the service in the log alone. */
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

  private show(call: ToolCall): Shown {
    this.calls.push(call);
    return {
      content: fenced(call.id, harmlessJson(call.output), this.nonce),
      ...(call.failed && { is_error: true }),
    };
  }
}

const failed = (error: string) => ({ output: { error }, failed: true }) as const;

/** Undefined for what no tool takes: ids need no character that JSON would have to escape. */
function readInput(given: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return undefined;
  try {
    const json = JSON.stringify(given);
    const plain = json.length <= MOST_INPUT_CHARACTERS && /^[\x20-\x5b\x5d-\x7e]*$/.test(json);
    return plain ? (given as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

/** What a tool found may have been written by an attacker, too: it stands between marks like those of the evidence. */
function fenced(id: string, json: string, nonce: string): string {
  const words = WORDS.toolAnswer.replaceAll('{id}', id);
  return `${words}\n<${id}-${nonce}>\n${json}\n</${id}-${nonce}>`;
}
