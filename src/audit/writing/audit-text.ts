import { storable } from '../../platform/text.js';

const MAX_TEXT = 256;
const MAX_STRING = 1_000;
const MAX_DEPTH = 6;
const MAX_CHARACTERS = 8_000;

/** Bounds the text of a column: a name, an id, a word. */
export function boundedText(text: string): string {
  return storable(cut(text, MAX_TEXT));
}

/** JSON of bounded size: parts that are too long are replaced by words that say so. */
export function boundedDetails(details: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(bounded(details, MAX_DEPTH, { left: MAX_CHARACTERS }));
}

interface Budget {
  left: number;
}

function bounded(value: unknown, depth: number, budget: Budget): unknown {
  budget.left -= 1;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') {
    const text = cut(value, Math.min(MAX_STRING, Math.max(0, budget.left)));
    budget.left -= text.length;
    return storable(text);
  }
  if (typeof value !== 'object' || value === null) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return bounded((value.toJSON as () => unknown)(), depth, budget);
  }
  if (depth === 0) return '[cut: too deep]';
  return Array.isArray(value)
    ? boundedArray(value, depth, budget)
    : boundedObject(value, depth, budget);
}

function boundedArray(items: readonly unknown[], depth: number, budget: Budget): unknown[] {
  const kept: unknown[] = [];
  for (const item of items) {
    if (budget.left <= 0) return [...kept, `[cut: ${items.length - kept.length} more]`];
    kept.push(bounded(item, depth - 1, budget));
  }
  return kept;
}

function boundedObject(object: object, depth: number, budget: Budget): Record<string, unknown> {
  const entries = Object.entries(object);
  const kept: [string, unknown][] = [];
  for (const [key, item] of entries) {
    if (budget.left <= 0) {
      kept.push(['[cut]', `${entries.length - kept.length} more`]);
      break;
    }
    budget.left -= Math.min(key.length, MAX_TEXT);
    kept.push([boundedText(key), bounded(item, depth - 1, budget)]);
  }
  // Not by assignment, which would treat a key named __proto__ in a special way.
  return Object.fromEntries(kept);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}[cut: ${text.length} characters]`;
}
