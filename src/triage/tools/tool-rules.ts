import type { Incident } from '../../incidents/incident.js';
import { unlessAborted } from '../../platform/concurrency/within.js';
import type { Gate } from '../../platform/net/outbound-request.js';
import type { ExtractedIndicator } from '../evidence/indicator.js';
import {
  LONGEST_ANSWER_BYTES,
  MOST_QUESTIONS,
  ToolError,
  type TriageTool,
} from '../model/triage-model.port.js';
import { harmlessJson } from '../prompts/plain-json.js';
import { storedJson } from '../records/stored-json.js';

/** What the tools of one run know. */
export interface Question {
  readonly runId: string;
  readonly incident: Incident;
  readonly rawData: Readonly<Record<string, unknown>>;
  readonly indicators: readonly ExtractedIndicator[];
  readonly gate: Gate;
}

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

const TOOL_TIME_MS = 5_000;

/** The questions of one run: so many in all, each within its time, each answer of a bounded size. */
export function boundedTools(
  tools: readonly TriageTool[],
  { mostCalls = MOST_QUESTIONS, timeMs = TOOL_TIME_MS } = {},
): TriageTool[] {
  let calls = 0;
  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    ask: async (input, signal) => {
      calls += 1;
      if (calls > mostCalls) throw new ToolError('No more questions are answered in this run.');
      const late = AbortSignal.timeout(timeMs);
      const over = AbortSignal.any([signal, late]);
      try {
        return cutToSize(await unlessAborted(over, tool.ask(input, over)));
      } catch (error) {
        if (!late.aborted || signal.aborted) throw error;
        throw new ToolError(`There was no answer within ${timeMs} ms.`);
      }
    },
  }));
}

const ROOM = { longestText: 4_000, items: 100, depth: 12 } as const;

/** What is cut are texts and lists, by halves, until the JSON with all its signs is short enough. */
function cutToSize(answer: unknown): unknown {
  for (let characters = LONGEST_ANSWER_BYTES; characters > 0; characters >>= 1) {
    const cut = storedJson(answer, { ...ROOM, characters });
    if (cut === undefined || Buffer.byteLength(harmlessJson(cut)) <= LONGEST_ANSWER_BYTES)
      return cut;
  }
  return null;
}
