import { visibleStart } from '../platform/text.js';

const LONGEST_MESSAGE = 1_000;
const LONGEST_DATA_TEXT = 1_000;
/** Limit for all texts and names of one result together. */
const MOST_DATA = 65_536;
const DEEPEST_DATA = 20;

type Data = Readonly<Record<string, unknown>>;

/*
 * All texts of vendors pass through here to results and checks. They are bounded, because every list returns them
 * again, and contain no invisible or unstorable characters.
 */

export function shownMessage(text: string): string {
  return visibleStart(text, LONGEST_MESSAGE);
}

export function shownData(data: Data | undefined): Record<string, unknown> | undefined {
  if (data === undefined) return undefined;
  let left = MOST_DATA;
  const shown = (text: string): string => {
    const kept = visibleStart(text, Math.min(LONGEST_DATA_TEXT, left));
    left -= kept.length;
    return kept;
  };
  return ofObject(data, DEEPEST_DATA, shown);
}

function ofObject(
  data: Data,
  depth: number,
  shown: (text: string) => string,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [shown(key), ofValue(value, depth - 1, shown)]),
  );
}

function ofValue(value: unknown, depth: number, shown: (text: string) => string): unknown {
  if (typeof value === 'string') return shown(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '[too deep]';
  if (Array.isArray(value)) return value.map((item) => ofValue(item, depth - 1, shown));
  return ofObject(value as Data, depth, shown);
}
