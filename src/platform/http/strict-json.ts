import { isUtf8 } from 'node:buffer';
import { AppError, type FieldError, ValidationError } from '../errors/app-error.js';
import { shownStart } from '../text.js';

/** Maximum nesting of a body. Validation, storage and rules recurse. */
export const MAX_DEPTH = 64;
/** Maximum number of reported defects. */
const MAX_DEFECTS = 20;
const MAX_PATH_LENGTH = 500;

/** Maximum number of keys and values of a body, because each of them costs time at every step. */
export interface Bounds {
  readonly keys: number;
  readonly values: number;
}

/** More than any declared shape has. */
export const FEW: Bounds = { keys: 5_000, values: 20_000 };
/** As many as fit into 256 KiB, the maximum size of the raw data of an incident. */
const MANY: Bounds = { keys: 44_000, values: 180_000 };

/** JSON is UTF-8 (RFC 8259). Invalid bytes would silently become other characters. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError('bad_request', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

/** A byte order mark is rejected as well, everywhere. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError('bad_request', 'The body is not valid JSON.', { cause: error });
  }
}

export interface ReadBody {
  /** Undefined if a problem prevented the parsing. */
  readonly value: unknown;
  /** Defect in the content, reported after the check of the role. */
  readonly problem?: ValidationError;
}

/**
 * Parses a JSON body. Malformed bytes throw `bad_request`. Content that JSON.parse would silently change, or that PostgreSQL
 * cannot store, is a validation problem. Of duplicate keys the last one counts. Below the field `anyKeysIn` all keys are
 * allowed, in larger number.
 */
export function readStrictJson(bytes: Buffer, anyKeysIn?: string): ReadBody {
  const text = textOf(bytes);
  const value = parseJson(text);
  const size = sizeOf(value, anyKeysIn === undefined ? FEW : MANY);
  if (size === 'too_many_values') {
    const message = 'The body has too many keys or values.';
    return { value: undefined, problem: ValidationError.of('', size, message) };
  }
  const defects = jsonDefects(text, value, { isTooDeep: size === 'too_deep', anyKeysIn });
  return defects.length === 0 ? { value } : { value, problem: new ValidationError(defects) };
}

/** Whether a parsed value has too many keys or values, or nests too deep. */
export function sizeOf(value: unknown, bounds: Bounds): 'ok' | 'too_deep' | 'too_many_values' {
  let [keys, values, isTooDeep] = [0, 0, false];
  const visit = (part: unknown, depth: number): boolean => {
    values += 1;
    if (typeof part !== 'object' || part === null) return true;
    if (depth === MAX_DEPTH) isTooDeep = true;
    const items: readonly unknown[] = Array.isArray(part) ? part : Object.values(part);
    if (!Array.isArray(part)) keys += items.length;
    if (keys > bounds.keys || values + items.length > bounds.values) return false;
    return isTooDeep || items.every((item) => visit(item, depth + 1));
  };
  if (!visit(value, 0)) return 'too_many_values';
  return isTooDeep ? 'too_deep' : 'ok';
}

/** An escaped NUL or half of a surrogate pair, a key that reaches a prototype, or a number that may change. */
const SUSPICIOUS =
  /\\u(?:0000|d[89a-f]|005f|00[67])|__proto__|prototype|(?:^|[:,[\s])-?(?:\d{16}|\d+(?:\.\d*)?e)/i;

/** Stands for a whole number that JSON.parse would change. */
const INEXACT = Symbol('inexact number');

/** Node passes the source text of each value to the reviver. */
type Parse = (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source: string }) => unknown,
) => unknown;

const withInexactNumbers = (text: string): unknown =>
  (JSON.parse as Parse)(text, (_, value, { source }) =>
    typeof value === 'number' && !isKept(source) ? INEXACT : value,
  );

interface Options {
  readonly isTooDeep: boolean;
  readonly anyKeysIn?: string | undefined;
}

/** The path and the kind of each defect in a JSON text and its parsed value. */
function jsonDefects(
  text: string,
  parsed: unknown,
  { isTooDeep, anyKeysIn }: Options,
): FieldError[] {
  if (!isTooDeep && !SUSPICIOUS.test(text)) return [];
  const found: FieldError[] = [];
  const path: (string | number)[] = [];
  const report = (code: string, problem: string): void => {
    const field = shownStart(path.join('.'), MAX_PATH_LENGTH);
    found.push({ field, code, message: `${field === '' ? 'The body' : field} ${problem}.` });
  };
  const checkText = (content: string): void => {
    if (content.includes('\0')) report('nul_character', 'contains a NUL character');
    if (!content.isWellFormed()) report('lone_surrogate', 'contains half of a surrogate pair');
  };
  const checkKey = (key: string): void => {
    checkText(key);
    const isForbidden =
      key === '__proto__' || (key === 'prototype' && path.at(-2) === 'constructor');
    if (isForbidden && !(path.length > 1 && path[0] === anyKeysIn)) {
      report('forbidden_key', 'is not allowed as a key');
    }
  };
  const visit = (value: unknown): void => {
    if (value === INEXACT) {
      const problem =
        'is a whole number that JSON numbers do not hold exactly; send it as a string';
      report('inexact_number', problem);
    }
    if (typeof value === 'string') checkText(value);
    if (typeof value !== 'object' || value === null) return;
    if (path.length === MAX_DEPTH) {
      report('too_deep', `is nested deeper than ${MAX_DEPTH} levels`);
      return;
    }
    const isList = Array.isArray(value);
    for (const [key, item] of Object.entries(value)) {
      if (found.length >= MAX_DEFECTS) return;
      path.push(isList ? Number(key) : key);
      if (!isList) checkKey(key);
      visit(item);
      path.pop();
    }
  };
  visit(isTooDeep ? parsed : withInexactNumbers(text));
  return found.slice(0, MAX_DEFECTS);
}

const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

interface Decimal {
  /** Without zeros at either end; empty for zero. */
  readonly significant: string;
  readonly exponent: number;
}

/**
 * Whether the number of this JSON token is the same when it is answered. A fraction may be rounded. A whole number may
 * not, because it is an id or a count. A double that holds it is not enough: 2^60 would be answered as
 * 1152921504606847000, which a reader with larger integers takes for another number.
 */
export function isKept(token: string): boolean {
  const sent = decimalOf(token);
  const value = Number(token);
  if (!sent || !Number.isFinite(value)) return false;
  const isFraction = sent.significant === '' || sent.exponent < 0;
  return isFraction || isSame(sent, decimalOf(String(value)));
}

/** Whether JSON.parse and JSON.stringify keep the number of this JSON token, also if it is a fraction. */
export function isExact(token: string): boolean {
  const value = Number(token);
  return !Object.is(value, -0) && isSame(decimalOf(token), decimalOf(String(value)));
}

function isSame(one: Decimal | undefined, other: Decimal | undefined): boolean {
  if (!one || !other || one.significant !== other.significant) return false;
  return one.significant === '' || one.exponent === other.exponent;
}

function decimalOf(token: string): Decimal | undefined {
  const match = NUMBER.exec(token);
  if (!match) return undefined;
  const [, whole = '', fraction = '', power = '0'] = match;
  const { text, dropped } = withoutTrailingZeros(whole + fraction);
  return {
    significant: text.replace(/^0+/, ''),
    exponent: Number(power) - fraction.length + dropped,
  };
}

/** By hand: the pattern /0+$/ costs the square of the length on zeros that something else follows. */
function withoutTrailingZeros(text: string): { text: string; dropped: number } {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 0x30) end -= 1;
  return { text: text.slice(0, end), dropped: text.length - end };
}
