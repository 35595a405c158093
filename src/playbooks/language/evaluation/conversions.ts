import { isNumber } from './comparison.js';
import { Mismatch, needs, type Value } from './values.js';

const LONGEST_NUMBER = 40;
const WHOLE = /^[+-]?\d{1,19}$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const LEAST_INT = -(2n ** 63n);
const LARGEST_INT = 2n ** 63n - 1n;
/** The words that CEL reads as true and false. */
const TRUE = ['true', 'TRUE', 'True', 't', '1'];
const FALSE = ['false', 'FALSE', 'False', 'f', '0'];

/** A number, a text or a truth as it is written into a text. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || isNumber(value)) return String(value);
  throw needs('a text, a number, or true or false', value);
}

export const OUT_OF_RANGE = 'This number is too large for a whole number of 64 bits.';

export function isInRange(number: bigint): boolean {
  return number >= LEAST_INT && number <= LARGEST_INT;
}

export function inRange(number: bigint): bigint {
  if (isInRange(number)) return number;
  throw new Mismatch(OUT_OF_RANGE);
}

export function toInt(value: Value): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value))
    return inRange(BigInt(Math.trunc(value)));
  if (typeof value === 'string' && WHOLE.test(value)) return inRange(BigInt(value));
  throw needs('a number, or a text of digits', value);
}

export function toDouble(value: Value): number {
  if (isNumber(value)) return Number(value);
  if (typeof value === 'string' && value.length <= LONGEST_NUMBER && DECIMAL.test(value)) {
    return Number(value);
  }
  throw needs('a number, or a text of digits', value);
}

export function toTruth(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && [...TRUE, ...FALSE].includes(value)) return TRUE.includes(value);
  throw needs('true or false, or such a word', value);
}
