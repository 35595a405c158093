import type Anthropic from '@anthropic-ai/sdk';
import { fieldOf } from '../triage-model.port.js';

/** More blocks than an honest answer has: each is looked at, and each question has to be answered. */
const MOST_BLOCKS = 200;

/**
 * What is used of a message. The library checks nothing of what a server answers, so its own type would promise what a
 * proxy need not keep.
 */
export interface ProviderMessage {
  readonly stop_reason: string;
  readonly content: Anthropic.ContentBlock[];
  /** Undefined when the provider names none, or not in a way that a run can show. */
  readonly model: string | undefined;
}

export interface Question {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** Undefined when the answer is no message. */
export function readMessage(answer: unknown): ProviderMessage | undefined {
  const reason = fieldOf(answer, 'stop_reason');
  const model = fieldOf(answer, 'model');
  const content = fieldOf(answer, 'content');
  if (typeof reason !== 'string') return undefined;
  if (!Array.isArray(content) || content.length > MOST_BLOCKS) return undefined;
  if (!content.every(isBlock)) return undefined;
  const named = typeof model === 'string' && MODEL.test(model);
  return { stop_reason: reason, model: named ? model : undefined, content };
}

const MODEL = /^[\w.:@/-]{1,200}$/;

function isBlock(block: unknown): block is Anthropic.ContentBlock {
  switch (fieldOf(block, 'type')) {
    case 'text':
      return typeof fieldOf(block, 'text') === 'string';
    case 'tool_use':
      return typeof fieldOf(block, 'id') === 'string' && typeof fieldOf(block, 'name') === 'string';
    default:
      // Such as thinking: it is not looked into, and goes back to the model as it came.
      return typeof fieldOf(block, 'type') === 'string';
  }
}

/** The last text: what a model says before it asks a question is not its answer. */
export function lastText({ content }: ProviderMessage): string | undefined {
  return content.findLast((block) => block.type === 'text')?.text;
}

export function questionsOf({ content }: ProviderMessage): Question[] {
  return content.filter((block) => block.type === 'tool_use');
}

/** What kind of text the model would not judge, in the provider's word for it. */
export function refusalCategory(answer: unknown): string | undefined {
  const category = fieldOf(fieldOf(answer, 'stop_details'), 'category');
  return typeof category === 'string' && /^[a-z_]{1,40}$/.test(category) ? category : undefined;
}
