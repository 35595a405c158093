import { MOST_RAW_DATA_LEVELS } from '../../incidents/raw-data-rules.js';
import { AppError } from '../../platform/errors/app-error.js';
import { isExact } from '../../platform/http/strict-json.js';

/** JSON value. A number that JavaScript would change keeps its digits. */
export type Json = string | number | boolean | null | ExactNumber | JsonObject | readonly Json[];
export interface JsonObject {
  readonly [key: string]: Json;
}

export interface ExactNumber {
  readonly rawJSON: string;
}

export function isExactNumber(value: Json | undefined): value is ExactNumber {
  return typeof value === 'object' && value !== null && JSON.isRawJSON(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
  );
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Lists of events may have gaps: null and empty objects. */
export function saysSomething(member: Json): boolean {
  return typeof member !== 'object' || (member !== null && Object.keys(member).length > 0);
}

/** Returns text that is not blank, or the digits of a number. */
export function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value.trim() || undefined;
  if (typeof value === 'number') return String(value);
  return isExactNumber(value) ? value.rawJSON : undefined;
}

/** Reserves one level for the object around an event that is not an object. */
const MOST_LEVELS = MOST_RAW_DATA_LEVELS - 1;
const BYTE_ORDER_MARK = '\ufeff';

/**
 * Reads a signed body as a value that can be stored and shown. Rejects only text that is not JSON, because the exact bytes are kept:
 * - A byte order mark is skipped. Invalid UTF-8 becomes U+FFFD.
 * - A number that JavaScript would change keeps its digits (ExactNumber).
 * - NUL and lone surrogates in strings and keys become visible text, such as `\u0000`.
 * - Lists and objects below the last level become strings with their JSON.
 * - The last of duplicate keys wins. `__proto__` is an ordinary key.
 */
export function readEventJson(bytes: Buffer): Json {
  try {
    return readText(decoded(bytes));
  } catch (error) {
    throw invalid(error);
  }
}

function invalid(cause: unknown): AppError {
  return new AppError('bad_request', 'The body is not valid JSON.', { cause });
}

/** Matches `application/x-ndjson`, and the name without `x-`. */
const LINES = /^application\/(?:x-)?ndjson\s*(?:;|$)/i;

export function isLines(contentType: string | undefined): boolean {
  return contentType !== undefined && LINES.test(contentType.trim());
}

const LINES_PER_TURN = 50;

/**
 * Reads lines of JSON as a list. A line that is not JSON becomes text, so that it does not block other lines. A body that is JSON as a
 * whole is read as JSON, because stored bodies have no content type.
 */
export function* readEventLines(bytes: Buffer): Generator<void, Json> {
  const text = decoded(bytes);
  try {
    return readText(text);
  } catch (error) {
    yield;
    const read: Json[] = [];
    let isJson = false;
    for (const part of text.split('\n')) {
      const line = part.trim();
      if (line === '') continue;
      try {
        read.push(readText(line));
        isJson = true;
      } catch {
        read.push(storable(line));
      }
      if (read.length % LINES_PER_TURN === 0) yield;
    }
    if (read.length < 2 || !isJson) throw invalid(error);
    return read;
  }
}

function decoded(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

/**
 * Matches an escaped NUL or half of a surrogate pair, and numbers that may change: 16 digits, an exponent, or a negative zero. A match in
 * a string only costs time.
 */
const SUSPICIOUS = /\\u(?:0000|d[89a-f])|(?:^|[:,[\s])-?(?:[\d.]{16}|[\d.]+e|(?<=-)0)/i;

/** Node passes the source text of each value to the reviver. */
type Parse = (
  text: string,
  reviver: (key: string, value: Json, context: { readonly source: string }) => Json,
) => Json;

function readText(text: string): Json {
  const value = JSON.parse(text) as Json;
  const cut = withoutDeepLevels(text);
  if (cut === text && !SUSPICIOUS.test(text)) return value;
  return (JSON.parse as Parse)(cut, (_, part, { source }) => {
    if (typeof part === 'string') return storable(part);
    if (typeof part === 'number') return isExact(source) ? part : JSON.rawJSON(source);
    if (!isObject(part) || Object.keys(part).every(isStorable)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, member]) => [storable(key), member]));
  });
}

/** NUL, or half of a surrogate pair. */
const UNSTORABLE = /[\0\p{Cs}]/gu;

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function storable(text: string): string {
  if (isStorable(text)) return text;
  return text.replace(
    UNSTORABLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPENS_LIST, CLOSES_LIST, OPENS_OBJECT, CLOSES_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

function withoutDeepLevels(text: string): string {
  let cut = '';
  let [levels, copied, start] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfString(text, at);
    else if (char === OPENS_LIST || char === OPENS_OBJECT) {
      levels += 1;
      if (levels === MOST_LEVELS + 1) start = at;
    } else if (char === CLOSES_LIST || char === CLOSES_OBJECT) {
      levels -= 1;
      if (levels !== MOST_LEVELS) continue;
      cut += text.slice(copied, start) + JSON.stringify(text.slice(start, at + 1));
      copied = at + 1;
    }
  }
  return copied === 0 ? text : cut + text.slice(copied);
}

/** Returns the position of the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (text.charCodeAt(end - 1) === BACKSLASH && isEscaped(text, end)) {
    end = text.indexOf('"', end + 1);
  }
  return end;
}

/** True if an odd number of backslashes precedes the quote. */
function isEscaped(text: string, quote: number): boolean {
  let first = quote;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}
