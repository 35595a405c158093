import { unlessAborted } from '../../platform/concurrency/unless-aborted.js';
import type { TriageTool } from '../model/triage-model.port.js';
import { storedJson } from '../records/stored-json.js';
import { ToolError } from './indicator-input.js';

const MOST_CALLS = 8;
const TOOL_TIME_MS = 5_000;

/** As much of an answer as the model is shown, and as is kept. */
const ANSWER_ROOM = { characters: 16_000, longestText: 4_000, items: 100, depth: 12 } as const;

/** The questions of one run: so many in all, each within its time, each answer of a bounded size. */
export function boundedTools(
  tools: readonly TriageTool[],
  { mostCalls = MOST_CALLS, timeMs = TOOL_TIME_MS } = {},
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
        return storedJson(await unlessAborted(over, tool.ask(input, over)), ANSWER_ROOM);
      } catch (error) {
        if (!late.aborted || signal.aborted) throw error;
        throw new ToolError(`There was no answer within ${timeMs} ms.`);
      }
    },
  }));
}
