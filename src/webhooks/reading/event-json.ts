import { MOST_RAW_DATA_LEVELS } from '../../incidents/raw-data-rules.js';
import { AppError } from '../../platform/errors/app-error.js';
import { endOfString } from '../../platform/http/json-suspicion.js';
import { readCarefully } from './careful-json.js';
import type { Json } from './json.js';
import {
  closes,
  endOfNumber,
  isExponent,
  MINUS,
  opens,
  QUOTE,
  startsNumber,
  ZERO,
} from './json-characters.js';

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
  const read = bytes.toString('utf8');
  const text = read.startsWith(BYTE_ORDER_MARK) ? read.slice(1) : read;
  const value = parse(text);
  return isPlain(text) ? value : readCarefully(text, MOST_LEVELS);
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new AppError('bad_request', 'The body is not valid JSON.', { cause: error });
  }
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
