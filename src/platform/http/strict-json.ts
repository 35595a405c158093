import { isUtf8 } from 'node:buffer';
import { AppError, type FieldError, ValidationError } from '../errors/app-error.js';
import { shownStart } from '../text.js';

/** Maximum nesting of a body. Validation, storage and rules are recursive. */
export const MAX_DEPTH = 64;
const MAX_DEFECTS = 20;
const MAX_PATH_LENGTH = 500;

/** Maximum number of keys and values of a body. No declared body needs more. */
const FEW = { keys: 5_000, values: 20_000 };
/** Maximums for free-form data: the numbers that fit into 256 KiB, the maximum size of the raw data of an incident. */
const MANY = { keys: 44_000, values: 180_000 };

/** Without this check, bytes that are not UTF-8 (RFC 8259) would silently become other characters. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError('bad_request', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

export interface ReadBody {
  readonly value: unknown;
  readonly problem?: ValidationError | undefined;
}

/** Matches a number with 16 digits or an exponent. A match inside a string only costs time. */
const LONG_NUMBER = /(?:^|[:,[\s])-?(?:\d{16}|\d+(?:\.\d*)?e)/i;

/** Rejects content that JSON.parse would change or PostgreSQL cannot store. Below `anyKeysIn`, any key is valid. */
export function readStrictJson(bytes: Buffer, anyKeysIn?: string): ReadBody {
  const text = textOf(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new AppError('bad_request', 'The body is not valid JSON.', { cause: error });
  }
  let defects = jsonDefects(value, anyKeysIn);
  if (LONG_NUMBER.test(text) && !defects.some(({ code }) => code.startsWith('too_'))) {
    defects = jsonDefects(withInexactNumbers(text), anyKeysIn);
  }
  return { value, problem: defects.length > 0 ? new ValidationError(defects) : undefined };
}

/** Placeholder for a whole number that JSON.parse would change. */
const INEXACT = Symbol('inexact number');

type Parse = (
  text: string,
  reviver: (key: string, value: unknown, context: { readonly source: string }) => unknown,
) => unknown;

const withInexactNumbers = (text: string): unknown =>
  (JSON.parse as Parse)(text, (_, value, { source }) =>
    typeof value === 'number' && !isKept(source) ? INEXACT : value,
  );

export function jsonDefects(body: unknown, anyKeysIn?: string): FieldError[] {
  const most = anyKeysIn === undefined ? FEW : MANY;
  const found: FieldError[] = [];
  const path: string[] = [];
  let [keys, values] = [0, 1];
  const report = (code: string, problem: string): void => {
    const field = shownStart(path.join('.'), MAX_PATH_LENGTH);
    found.push({ field, code, message: `${field === '' ? 'The body' : field} ${problem}.` });
  };
  const checkText = (text: string): void => {
    if (text.includes('\0')) report('nul_character', 'contains a NUL character');
    if (!text.isWellFormed()) report('lone_surrogate', 'contains half of a surrogate pair');
  };
  const checkKey = (key: string): void => {
    checkText(key);
    if (key === '__proto__' && !(path.length > 1 && path[0] === anyKeysIn)) {
      report('forbidden_key', 'is not allowed as a key');
    }
  };
  const visit = (value: unknown): boolean => {
    if (typeof value === 'string') checkText(value);
    if (value === INEXACT) {
      report(
        'inexact_number',
        'is a whole number that JSON numbers do not hold exactly; send text',
      );
    }
    if (typeof value !== 'object' || value === null) return true;
    if (path.length === MAX_DEPTH) {
      report('too_deep', `is nested deeper than ${MAX_DEPTH} levels`);
      return true;
    }
    const members = Object.entries(value);
    values += members.length;
    if (!Array.isArray(value)) keys += members.length;
    if (keys > most.keys || values > most.values) return false;
    return members.every(([key, member]) => {
      if (found.length >= MAX_DEFECTS) return true;
      path.push(key);
      if (!Array.isArray(value)) checkKey(key);
      const isBounded = visit(member);
      path.pop();
      return isBounded;
    });
  };
  if (visit(body)) return found.slice(0, MAX_DEFECTS);
  const message = 'The body has too many keys or values.';
  return [{ field: '', code: 'too_many_values', message }];
}

/** A fraction may be rounded. A whole number is an id or a count: 2^60 would become 1152921504606847000. */
export function isKept(token: string): boolean {
  const value = Number(token);
  if (!Number.isInteger(value)) return Number.isFinite(value);
  return Number.isSafeInteger(value) || isExact(token);
}

/** True if JSON.parse and JSON.stringify preserve the number. A double preserves 15 digits. */
export function isExact(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  if (String(value) === token) return true;
  // Limits the cost of the patterns below.
  if (token.length > 40) return false;
  const digits = token.replace(/^-?[0.]*|\.|e.*$/gi, '').replace(/0+$/, '');
  return digits === '' || (digits.length <= 15 && Math.abs(value) > 1e-300);
}
