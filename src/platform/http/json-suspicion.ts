/** As deep as a body may nest; what comes after (validation, storage, rules) recurses. */
export const MAX_DEPTH = 64;

/** An escaped NUL, half of a surrogate pair, or a letter of `__proto__` and `prototype`. */
const ESCAPES = /\\u(?:0000|[dD][89a-fA-F]|005[fF]|00[67])/;
const PROTOTYPE_KEYS = ['__proto__', 'prototype'];
/** Every whole number of fewer digits is kept as it is, unless it has an exponent. */
const MANY_DIGITS = 16;

/** How many keys and values a body may have: each costs time at every step, however small it is. */
export interface Bounds {
  readonly keys: number;
  readonly values: number;
}

/** More than any declared shape has. */
export const FEW: Bounds = { keys: 5_000, values: 20_000 };
/** As many as fit into 256 KiB, which is what the raw data of an incident may have. */
export const MANY: Bounds = { keys: 44_000, values: 180_000 };

/** What the text alone tells, be it JSON or not. */
export interface Tokens {
  /** Colons outside strings: one for each key. */
  readonly keys: number;
  /** More than the bounds allow: the rest was not counted. */
  readonly areTooMany: boolean;
  /** A number is there that may not be kept as it was sent. */
  readonly haveOddNumber: boolean;
}

/**
 * Whether the text, which JSON.parse made `value` of, may hold something that must be refused; json-defects.ts tells
 * what. Exact for depth and for duplicate keys, of which JSON.parse keeps the last: then the value has fewer keys than
 * the text has colons. As cheap as JSON.parse itself.
 */
export function isSuspicious(
  text: string,
  { keys, haveOddNumber }: Tokens,
  value: unknown,
): boolean {
  if (haveOddNumber || PROTOTYPE_KEYS.some((key) => text.includes(key))) return true;
  if (text.includes('\\u') && ESCAPES.test(text)) return true;
  return keys !== countKeys(value, MAX_DEPTH);
}

export function nestsTooDeep(value: unknown): boolean {
  return countKeys(value, MAX_DEPTH) < 0;
}

/** The number of keys in the value and all below it; -1 when it nests deeper than `depth`. */
function countKeys(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === 0) return -1;
  let count = 0;
  if (!Array.isArray(value)) {
    const keys = Object.keys(value);
    count = keys.length;
    for (const key of keys) {
      const item = (value as Record<string, unknown>)[key];
      if (typeof item !== 'object' || item === null) continue;
      const below = countKeys(item, depth - 1);
      if (below < 0) return -1;
      count += below;
    }
    return count;
  }
  for (const item of value as unknown[]) {
    if (typeof item !== 'object' || item === null) continue;
    const below = countKeys(item, depth - 1);
    if (below < 0) return -1;
    count += below;
  }
  return count;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPENS_OBJECT = 0x7b;
const OPENS_LIST = 0x5b;
const POINT = 0x2e;
const LOWER_E = 0x65;
const isDigit = (char: number): boolean => char >= 0x30 && char <= 0x39;

/** One pass over the text; strings are skipped by the engine's own search. */
export function tokensOf(text: string, bounds: Bounds): Tokens {
  const { length } = text;
  let keys = 0;
  let values = 1;
  let haveOddNumber = false;
  for (let at = 0; at < length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfString(text, at);
      if (at < 0) break;
    } else if (char === COMMA || char === OPENS_OBJECT || char === OPENS_LIST) values += 1;
    else if (char === COLON) keys += 1;
    else if (isDigit(char)) {
      const start = at;
      while (isDigit(text.charCodeAt(at + 1))) at += 1;
      const isExponential = (text.charCodeAt(at + 1) | 0x20) === LOWER_E;
      const isLong = at - start + 1 >= MANY_DIGITS && text.charCodeAt(start - 1) !== POINT;
      haveOddNumber ||= isExponential || isLong;
    }
    const areTooMany = keys > bounds.keys || values > bounds.values;
    if (areTooMany) return { keys, areTooMany, haveOddNumber };
  }
  return { keys, areTooMany: false, haveOddNumber };
}

/** Where the string that opens at `start` closes; -1 when it does not. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && text.charCodeAt(end - 1) === BACKSLASH && isEscaped(text, end)) {
    end = text.indexOf('"', end + 1);
  }
  return end;
}

/** An odd number of backslashes before a quote takes it into the string. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}
