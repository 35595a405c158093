import { isUtf8 } from 'node:buffer';
import { AppError, ValidationError } from '../errors/app-error.js';
import { jsonDefects } from './json-defects.js';
import { FEW, isSuspicious, MANY, tokensOf } from './json-suspicion.js';

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

const TOO_MANY_VALUES = ValidationError.of(
  '',
  'too_many_values',
  'The body has too many keys or values.',
);

/**
 * Parses JSON that every parser reads in the same way. Malformed bytes throw `bad_request`. Content that JSON.parse would silently
 * change is a validation problem. The exact check costs several times JSON.parse, so it runs only if a cheap check is suspicious.
 * Below the field `anyKeysIn` all keys are allowed, in larger number.
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
