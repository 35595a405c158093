import { MOST_RAW_DATA_LEVELS } from '../../incidents/raw-data-rules.js';
import { AppError } from '../../platform/errors/app-error.js';
import { isExact } from '../../platform/http/strict-json.js';

/** A number that JavaScript would change keeps its digits in `rawJSON`. */
interface ExactNumber {
  readonly rawJSON: string;
}
export type Json = string | number | boolean | null | ExactNumber | JsonObject | readonly Json[];
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value) && !JSON.isRawJSON(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** False for an empty item in a list of events. */
export function saysSomething(member: Json): boolean {
  return typeof member !== 'object' || (member !== null && Object.keys(member).length > 0);
}

export function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value.trim() || undefined;
  if (typeof value === 'number') return String(value);
  return JSON.isRawJSON(value) ? value.rawJSON : undefined;
}

/** Reserves one level for the object around an event that is not an object. */
const MOST_LEVELS = MOST_RAW_DATA_LEVELS - 1;

/** Escaped NUL and lone surrogates, and numbers that JSON.parse may change. Matches inside strings do no harm. */
const SUSPICIOUS = /\\u(?:0000|d[89a-f])|(?:^|[:,[\s])-?(?:[\d.]{16}|[\d.]+e|(?<=-)0)/i;

type Reviver = (key: string, value: Json, context: { readonly source: string }) => Json;
type Parse = (text: string, reviver: Reviver) => Json;

/**
 * Reads a signed body as a value that can be stored and shown. Rejects only text that is not JSON. NUL and lone
 * surrogates become visible text, such as `\u0000`. Lists and objects below the last level become strings with their JSON.
 */
export function readEventJson(bytes: Buffer): Json {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  try {
    const value = JSON.parse(text) as Json;
    const cut = withoutDeepLevels(text);
    return cut === text && !SUSPICIOUS.test(text)
      ? value
      : (JSON.parse as Parse)(cut, storablePart);
  } catch (cause) {
    throw new AppError('bad_request', 'The body is not valid JSON.', { cause });
  }
}

const storablePart: Reviver = (_, part, { source }) => {
  if (typeof part === 'string') return storable(part);
  if (typeof part === 'number') return isExact(source) ? part : JSON.rawJSON(source);
  if (!isObject(part) || Object.keys(part).every((key) => storable(key) === key)) return part;
  return Object.fromEntries(Object.entries(part).map(([key, member]) => [storable(key), member]));
};

function storable(text: string): string {
  return text.replace(
    /[\0\p{Cs}]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Replaces lists and objects below the last level by strings. The text is valid JSON, so a backslash occurs only in a string. */
function withoutDeepLevels(text: string): string {
  let cut = '';
  let [levels, copied, start, isInString] = [0, 0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') isInString = !isInString;
    else if (isInString) at += char === '\\' ? 1 : 0;
    else if (char === '[' || char === '{') {
      levels += 1;
      if (levels === MOST_LEVELS + 1) start = at;
    } else if (char === ']' || char === '}') {
      levels -= 1;
      if (levels !== MOST_LEVELS) continue;
      cut += text.slice(copied, start) + JSON.stringify(text.slice(start, at + 1));
      copied = at + 1;
    }
  }
  return copied === 0 ? text : cut + text.slice(copied);
}
