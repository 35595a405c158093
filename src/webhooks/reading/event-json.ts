import { MOST_RAW_DATA_LEVELS } from '../../incidents/raw-data-rules.js';
import { AppError } from '../../platform/errors/app-error.js';
import type { Json } from './json.js';
import { isExact } from '../../platform/http/strict-json.js';

/** One level is left for what is put around an event that is no object. */
const MOST_LEVELS = MOST_RAW_DATA_LEVELS - 1;
const BYTE_ORDER_MARK = '\ufeff';

/** In source text: an escaped NUL, or half of a surrogate pair, of which most are escaped emoji. */
const ODD_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;
/** So few digits every double gives back as they came. */
const LONGEST_SAFE = 15;

/**
 * The content of a signed receipt, as a value that can be stored and shown. What is no JSON is refused; nothing else
 * is, because the sender is known and its exact bytes are kept:
 * - a byte order mark is skipped, and bytes that are no UTF-8 are read as U+FFFD;
 * - a number that JavaScript would change is kept as its digits (ExactNumber);
 * - NUL and lone surrogates in strings and keys become visible text, such as `\u0000`;
 * - what nests too deep becomes a string with its JSON;
 * - of keys that are given twice the last counts, and `__proto__` is a key like any other: a property of a plain object,
 *   whose prototype stays what it was.
 */
export function readEventJson(bytes: Buffer): Json {
  try {
    return readText(textOf(bytes));
  } catch (error) {
    throw invalid(error);
  }
}

function invalid(cause: unknown): AppError {
  return new AppError('bad_request', 'The body is not valid JSON.', { cause });
}

/** `application/x-ndjson`, also under the name that it would have if it were registered. */
const LINES = /^application\/(?:x-)?ndjson\s*(?:;|$)/i;

export function isLines(contentType: string | undefined): boolean {
  return contentType !== undefined && LINES.test(contentType.trim());
}

/** A line that is JSON as a whole begins and ends like this. An error of JSON.parse costs a hundred times as much. */
const LIKE_JSON = /^(?:\{.*\}|\[.*\]|".*"|-?\d.*|true|false|null)$/s;
/** Lines between two places where the reading may be interrupted. */
const LINES_AT_ONCE = 50;

/**
 * A body that may be lines of JSON, as a list with what each line says. A line that is no JSON is its text, so that it keeps no
 * other back. A body that is JSON as a whole is read as that: so a stored one is read without its content type.
 */
export function* readEventLines(bytes: Buffer): Generator<void, Json> {
  const text = textOf(bytes);
  try {
    return readText(text);
  } catch (error) {
    yield;
    const read: Json[] = [];
    let isJson = false;
    for (let start = 0; start < text.length;) {
      const end = text.indexOf('\n', start);
      const line = text.slice(start, end < 0 ? text.length : end).trim();
      start = end < 0 ? text.length : end + 1;
      if (line === '') continue;
      const value = readLine(line);
      isJson ||= value !== undefined;
      read.push(value ?? storable(line));
      if (read.length % LINES_AT_ONCE === 0) yield;
    }
    if (read.length < 2 || !isJson) throw invalid(error);
    return read;
  }
}

function readLine(line: string): Json | undefined {
  if (!LIKE_JSON.test(line)) return undefined;
  try {
    return readText(line);
  } catch {
    return undefined;
  }
}

function textOf(bytes: Buffer): string {
  const read = bytes.toString('utf8');
  return read.startsWith(BYTE_ORDER_MARK) ? read.slice(1) : read;
}

function readText(text: string): Json {
  const value = JSON.parse(text) as Json;
  return isPlain(text) ? value : readCarefully(text, MOST_LEVELS);
}

/** A look at JSON that costs less than JSON.parse: true when JSON.parse alone reads it as it shall be read. */
function isPlain(text: string): boolean {
  let levels = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfString(text, at);
    else if (opens(char)) levels += 1;
    else if (closes(char)) levels -= 1;
    else if (startsNumber(char)) {
      const end = endOfNumber(text, at);
      if (!isPlainNumber(text, at, end)) return false;
      at = end - 1;
    }
    if (levels > MOST_LEVELS) return false;
  }
  return !(text.includes('\\u') && ODD_ESCAPE.test(text));
}

/** No exponent, not too many digits, and no negative zero. */
function isPlainNumber(text: string, start: number, end: number): boolean {
  if (end - start > LONGEST_SAFE) return false;
  if (text.charCodeAt(start) === MINUS && text.charCodeAt(start + 1) === ZERO) return false;
  for (let at = start; at < end; at += 1) {
    if (isExponent(text.charCodeAt(at))) return false;
  }
  return true;
}

/** In a string: NUL, or a surrogate without its other half. */
const UNSTORABLE = /[\0\p{Cs}]/gu;
/** So few digits every double gives back as they came. */
const SAFE_NUMBER = /^-?[\d.]{1,15}(?:e[+-]?\d{1,2})?$/i;

/** The value of a text that is JSON: see readEventJson. What is deeper than `levels` becomes text. */
function readCarefully(text: string, levels: number): Json {
  return new CarefulReading(text).value(levels);
}

type Members = Record<string, Json>;

/** Reads text that is JSON once more, token by token. It calls itself once for each level, of which there are few. */
class CarefulReading {
  private at = 0;

  constructor(private readonly text: string) {}

  value(levels: number): Json {
    const char = this.next();
    if (char === QUOTE) return storable(this.string());
    if (opens(char)) {
      if (levels === 0) return this.asText();
      return char === OPENS_LIST ? this.list(levels - 1) : this.object(levels - 1);
    }
    return startsNumber(char) ? this.number() : this.word();
  }

  private list(levels: number): Json {
    const items: Json[] = [];
    this.at += 1;
    for (let char = this.next(); char !== CLOSES_LIST; char = this.next()) {
      if (char === COMMA) this.at += 1;
      else items.push(this.value(levels));
    }
    this.at += 1;
    return items;
  }

  private object(levels: number): Json {
    const members: Members = {};
    this.at += 1;
    for (let char = this.next(); char !== CLOSES_OBJECT; char = this.next()) {
      if (char === COMMA) {
        this.at += 1;
        continue;
      }
      const key = storable(this.string());
      if (this.next() === COLON) this.at += 1;
      setMember(members, key, this.value(levels));
    }
    this.at += 1;
    return members;
  }

  private string(): string {
    const start = this.at;
    const end = endOfString(this.text, start);
    this.at = end + 1;
    const content = this.text.slice(start + 1, end);
    return content.includes('\\') ? (JSON.parse(`"${content}"`) as string) : content;
  }

  private number(): Json {
    const token = this.text.slice(this.at, endOfNumber(this.text, this.at));
    this.at += token.length;
    const value = Number(token);
    const isSafe = SAFE_NUMBER.test(token) && !Object.is(value, -0);
    return isSafe || isExact(token) ? value : JSON.rawJSON(token);
  }

  private word(): Json {
    const word = ['true', 'false', 'null'].find((one) => this.text.startsWith(one, this.at))!;
    this.at += word.length;
    return JSON.parse(word) as Json;
  }

  /** A list or an object as its JSON, whatever it holds. */
  private asText(): string {
    const start = this.at;
    let levels = 0;
    do {
      const char = this.text.charCodeAt(this.at);
      if (char === QUOTE) this.at = endOfString(this.text, this.at);
      else if (opens(char)) levels += 1;
      else if (closes(char)) levels -= 1;
      this.at += 1;
    } while (levels > 0);
    return this.text.slice(start, this.at);
  }

  /** The character at the next token. */
  private next(): number {
    while (this.text.charCodeAt(this.at) <= SPACE) this.at += 1;
    return this.text.charCodeAt(this.at);
  }
}

/** An assignment to `__proto__` would change the prototype. */
function setMember(members: Members, key: string, value: Json): void {
  if (key !== '__proto__') members[key] = value;
  else {
    Object.defineProperty(members, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
}

export function storable(text: string): string {
  if (!text.includes('\0') && text.isWellFormed()) return text;
  return text.replace(
    UNSTORABLE,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/* The characters of JSON by their codes, for those who go through a text of a megabyte. */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
export const OPENS_LIST = 0x5b;
const CLOSES_LIST = 0x5d;
const OPENS_OBJECT = 0x7b;
const CLOSES_OBJECT = 0x7d;
const SPACE = 0x20;

export const opens = (char: number): boolean => char === OPENS_LIST || char === OPENS_OBJECT;
export const closes = (char: number): boolean => char === CLOSES_LIST || char === CLOSES_OBJECT;
const startsNumber = (char: number): boolean => char === MINUS || (char >= ZERO && char <= 0x39);

const isExponent = (char: number): boolean => (char | SPACE) === 0x65;

/** Digits, `-`, `.`, `+`, `E` and `e`; NaN, which is behind the end of the text, is none. */
const isOfNumber = (char: number): boolean =>
  startsNumber(char) || char === 0x2e || char === 0x2b || isExponent(char);

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (isOfNumber(text.charCodeAt(end))) end += 1;
  return end;
}

/** Where the string that opens at `start` closes; -1 when it does not. */
function endOfString(text: string, start: number): number {
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
