import type Anthropic from '@anthropic-ai/sdk';
import { type promptFor, readVerdict, VERDICT_SCHEMA } from '../../prompts/prompt.js';
import { WORDS } from '../../prompts/prompt-texts.js';
import {
  ModelUnavailableError,
  type ProposedVerdict,
  type TriageTool,
  type UnavailableReason,
} from '../triage-model.port.js';
import {
  lastText,
  type ProviderMessage,
  questionsOf,
  refusalCategory,
} from './provider-message.js';
import type { MessageParams, ProviderRequests } from './provider-requests.js';
import type { ToolAnswers } from './tool-answers.js';

/** Six rounds of questions, the verdict, one repair, and two pauses of the provider. */
const MOST_REQUESTS = 10;

/** A verdict has some hundred tokens; a model that thinks first needs more. */
const MOST_OUTPUT_TOKENS = 8_192;

/** What is said between the service and the model until there is a verdict. */
export class Conversation {
  private readonly messages: Anthropic.MessageParam[];
  private repaired = false;
  private answeredBy: string | undefined;

  constructor(
    private readonly asked: string,
    private readonly prompt: ReturnType<typeof promptFor>,
    private readonly tools: readonly TriageTool[],
    private readonly answers: ToolAnswers,
    private readonly requests: ProviderRequests,
  ) {
    this.messages = [{ role: 'user', content: prompt.user }];
  }

  /** The model that answered last, as the provider names it; until then the one that is asked. */
  get model(): string {
    return this.answeredBy ?? this.asked;
  }

  async verdict(): Promise<ProposedVerdict> {
    for (let request = 1; request <= MOST_REQUESTS; request += 1) {
      const { message, answer } = await this.requests.send(this.params());
      this.answeredBy = message.model;
      const verdict = await this.take(message, answer);
      if (verdict) return verdict;
    }
    throw useless('invalid_answer', 'The model goes on and on without a verdict.');
  }

  /** Undefined when the conversation goes on. https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons */
  private async take(
    message: ProviderMessage,
    answer: unknown,
  ): Promise<ProposedVerdict | undefined> {
    switch (message.stop_reason) {
      // No sequence is asked for: whatever stopped the model, its answer has to be a whole verdict.
      case 'end_turn':
      case 'stop_sequence':
        return this.read(message);
      case 'tool_use':
        return await this.goOnWithTools(message);
      case 'pause_turn':
        return this.goOn(message);
      case 'max_tokens':
        throw useless('truncated', 'The answer of the model was cut: it is too long.');
      case 'model_context_window_exceeded':
        throw useless('truncated', 'The incident is too long for the model.');
      case 'refusal':
        throw useless('refused', refusalSentence(answer));
      default:
        throw useless('invalid_answer', 'The model stopped for a reason that is not known.');
    }
  }

  private read(message: ProviderMessage): ProposedVerdict | undefined {
    const verdict = readVerdict(jsonIn(lastText(message)));
    if (verdict) return verdict;
    if (this.repaired) throw useless('invalid_answer', 'The model gives no verdict of the schema.');
    this.repaired = true;
    return this.goOn(message, WORDS.repair);
  }

  private async goOnWithTools(message: ProviderMessage): Promise<undefined> {
    const questions = questionsOf(message);
    if (questions.length === 0 || this.answers.exhausted) {
      throw useless(
        'invalid_answer',
        'The model called a tool when no call was left, or without a question.',
      );
    }
    return this.goOn(message, await this.answers.answer(questions));
  }

  private goOn(message: ProviderMessage, reply?: Anthropic.UserMessageParam['content']): undefined {
    // The provider takes no empty message.
    if (message.content.length === 0) {
      throw useless('invalid_answer', 'The model answered nothing.');
    }
    this.messages.push({ role: 'assistant', content: message.content });
    if (reply !== undefined) this.messages.push({ role: 'user', content: reply });
  }

  private params(): MessageParams {
    const { system } = this.prompt;
    return {
      model: this.asked,
      max_tokens: MOST_OUTPUT_TOKENS,
      // Tools stand before the system prompt, so the mark is for both: the same for all incidents, they are read from the cache.
      system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
      messages: this.messages,
      output_config: { format: { type: 'json_schema', schema: VERDICT_SCHEMA } },
      ...this.toolParams(),
    };
  }

  private toolParams(): Pick<MessageParams, 'tools' | 'tool_choice'> {
    if (this.tools.length === 0) return {};
    return {
      tools: this.tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: { ...inputSchema, type: 'object' },
      })),
      tool_choice: { type: this.answers.exhausted ? 'none' : 'auto' },
    };
  }
}

function jsonIn(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function refusalSentence(answer: unknown): string {
  const category = refusalCategory(answer);
  return `The model refused to judge the incident${category ? ` (${category})` : ''}.`;
}

/** The model did answer, and would answer the same question no better: a job need not ask again. */
function useless(reason: UnavailableReason, message: string): ModelUnavailableError {
  return new ModelUnavailableError(reason, message, { mayHelpLater: false });
}
