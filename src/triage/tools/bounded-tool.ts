import { unlessAborted } from '../../platform/concurrency/within.js';
import { ToolError } from '../model/model.errors.js';
import {
  LONGEST_ANSWER_BYTES,
  MOST_QUESTIONS,
  type TriageTool,
} from '../model/triage-model.port.js';
import { harmlessJson } from '../prompts/plain-json.js';
import { storedJson } from '../records/stored-json.js';

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
