import { shownStart } from '../../platform/text.js';

const LONGEST_TEXT = 4_000;
const MOST_ITEMS = 100;
const MOST_LEVELS = 14;

/** Limits the length of a value from a model or a vendor, and replaces characters that PostgreSQL cannot store. */
export function storedJson<T>(value: T, characters: number): T {
  let left = characters;
  const text = (given: string) => {
    const kept = shownStart(given, Math.min(LONGEST_TEXT, Math.max(0, left)));
    left -= kept.length + 1;
    return kept;
  };
  const cut = (given: unknown, level: number): unknown => {
    if (typeof given === 'string') return text(given);
    if (typeof given === 'number') left -= 8;
    if (typeof given !== 'object' || given === null) return given;
    const cutEach = <I>(items: readonly I[], cutOne: (item: I) => unknown) =>
      items.slice(0, MOST_ITEMS).flatMap((item) => (left > 0 ? [cutOne(item)] : []));
    if (level === MOST_LEVELS) return null;
    if (Array.isArray(given)) return cutEach(given, (item) => cut(item, level + 1));
    const fields = cutEach(Object.entries(given), ([key, one]) => [text(key), cut(one, level + 1)]);
    return Object.fromEntries(fields as [string, unknown][]);
  };
  return cut(value, 0) as T;
}

/** Returns the first items whose JSON together has at most this number of bytes. */
export function upTo<T>(bytes: number, items: readonly T[]): T[] {
  let left = bytes;
  const end = items.findIndex((one) => (left -= Buffer.byteLength(JSON.stringify(one))) < 0);
  return items.slice(0, end < 0 ? undefined : end);
}
