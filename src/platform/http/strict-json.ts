import { isUtf8 } from 'node:buffer';
import { AppError, ValidationError } from '../errors/app-error.js';
import { jsonDefects } from './json-defects.js';
import { FEW, isSuspicious, MANY, tokensOf } from './json-suspicion.js';

/** JSON travels as UTF-8 (RFC 8259); bytes that are none would silently become other characters. */
export function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError('bad_request', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

/** A byte order mark is no JSON either: a sender that writes one should not get away with it in one place only. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError('bad_request', 'The body is not valid JSON.', { cause: error });
  }
}

export interface ReadBody {
  /** Undefined where a problem kept it from being read at all. */
  readonly value: unknown;
  /** What is wrong with the content, to be said once the caller's role is known to suffice. */
  readonly problem?: ValidationError;
}

const TOO_MANY_VALUES = ValidationError.of(
  '',
  'too_many_values',
  'The body has more keys or values than may be.',
);

/**
 * Reads JSON that means one thing to everybody who reads it. Malformed bytes throw `bad_request`; content that
 * JSON.parse would silently change is a problem of validation. The exact walk costs some times JSON.parse, so it is
 * made only when a cheap look has found something that may be wrong. Below the field `anyKeysIn` no key is refused, and
 * there may be many.
 */
export function readStrictJson(bytes: Buffer, anyKeysIn?: string): ReadBody {
  const text = textOf(bytes);
  const tokens = tokensOf(text, anyKeysIn === undefined ? FEW : MANY);
  if (tokens.areTooMany) return { value: undefined, problem: TOO_MANY_VALUES };
  const value = parseJson(text);
  if (!isSuspicious(text, tokens, value)) return { value };
  const defects = jsonDefects(text, anyKeysIn);
  return defects.length === 0 ? { value } : { value, problem: new ValidationError(defects) };
}
