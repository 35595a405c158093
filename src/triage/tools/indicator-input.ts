import type { ExtractedIndicator } from '../evidence/indicator.js';
import { ToolError } from '../model/model.errors.js';

/** Ids of what code found, and nothing else: a model cannot put words of its own into a question. */
export const INDICATOR_INPUT = {
  type: 'object',
  properties: {
    indicator_id: { type: 'string', description: 'The id of an indicator of this incident.' },
  },
  required: ['indicator_id'],
  additionalProperties: false,
} as const;

export const NO_INPUT = { type: 'object', properties: {}, additionalProperties: false } as const;

export function requireNoInput(input: Readonly<Record<string, unknown>>): void {
  if (Object.keys(input).length > 0) throw new ToolError('This tool takes no input.');
}

export function indicatorOf(
  input: Readonly<Record<string, unknown>>,
  indicators: readonly ExtractedIndicator[],
): ExtractedIndicator {
  const isAlone = Object.keys(input).length === 1 && Object.hasOwn(input, 'indicator_id');
  const id = isAlone ? input['indicator_id'] : undefined;
  const indicator = indicators.find((one) => one.id === id);
  if (!indicator) {
    throw new ToolError('The input must be {"indicator_id": …} with the id of an indicator.');
  }
  return indicator;
}
