import type { Budget } from './budget.js';
import { isNumber } from './comparison.js';
import { readDuration, readTime, TIME_PARTS, timePart } from './times.js';
import { asIndex, asText, isList, isMembers, Mismatch, needs, type Value } from './values.js';
import { MOST_ITEMS } from '../limits.js';

/** Each pays for what it does before it does it. Of a method the first operand stands in front of the dot. */
type Operation = (budget: Budget, ...operands: Value[]) => Value;

/** A zone is looked up anew each time, which takes as long as so many nodes of an expression. */
const COST_OF_ZONE = 3_000;
/** So many characters are counted in the time of one node. */
const CHARACTERS_COUNTED = 16;
const COST_OF_KEY = 3;
const LONGEST_NUMBER = 40;
const WHOLE = /^[+-]?\d{1,19}$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const LEAST_INT = -(2n ** 63n);
const LARGEST_INT = 2n ** 63n - 1n;
const TRUTHS: ReadonlyMap<Value, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

const FUNCTIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['size', size],
  ['dyn', (_, value) => value!],
  ['string', (_, value) => textOf(value)],
  ['int', (_, value) => toInt(value)],
  ['double', (_, value) => toDouble(value)],
  ['bool', (_, value) => toTruth(value)],
  ['timestamp', (_, value) => readTime(value)],
  ['duration', (_, value) => readDuration(value)],
]);

const METHODS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['size', size],
  ['contains', onTwoTexts((text, wanted) => text.includes(wanted))],
  ['startsWith', onTwoTexts((text, wanted) => text.startsWith(wanted))],
  ['endsWith', onTwoTexts((text, wanted) => text.endsWith(wanted))],
  ['indexOf', onTwoTexts((text, wanted) => BigInt(text.indexOf(wanted)))],
  ['lastIndexOf', onTwoTexts((text, wanted) => BigInt(text.lastIndexOf(wanted)))],
  ['lowerAscii', onText((text) => text.toLowerCase())],
  ['upperAscii', onText((text) => text.toUpperCase())],
  ['trim', onText((text) => text.trim())],
  ['substring', substring],
  ['split', split],
  ['join', join],
  ...TIME_PARTS.map((part): [string, Operation] => [
    part,
    (budget, value, zone) => {
      if (zone !== undefined) budget.spend(COST_OF_ZONE);
      return timePart(part, value, zone);
    },
  ]),
]);

export function isFunction(name: string): boolean {
  return name === 'has' || FUNCTIONS.has(name);
}

export function isMethod(name: string): boolean {
  return METHODS.has(name);
}

export function callFunction(name: string, budget: Budget, operands: Value[]): Value {
  const operation = FUNCTIONS.get(name);
  if (!operation || operands.length !== 1) throw new Mismatch(`${name}() takes one operand.`);
  return operation(budget, ...operands);
}

export function callMethod(name: string, budget: Budget, operands: Value[]): Value {
  const operation = METHODS.get(name);
  if (!operation) throw new Mismatch(`There is no function ${name}().`);
  return operation(budget, ...operands);
}

/** A number, a text or a truth as it is written into a text. */
export function textOf(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || isNumber(value)) return String(value);
  throw needs('a text, a number, or true or false', value);
}

export function inRange(number: bigint): bigint {
  if (number >= LEAST_INT && number <= LARGEST_INT) return number;
  throw new Mismatch('This number is too large for a whole number of 64 bits.');
}

function onText(change: (text: string) => string): Operation {
  return (budget, value) => {
    const text = asText(value);
    budget.make(text.length);
    return change(text);
  };
}

function onTwoTexts(look: (text: string, wanted: string) => Value): Operation {
  return (budget, first, second) => {
    const [text, wanted] = [asText(first), asText(second)];
    budget.search(text, wanted);
    return look(text, wanted);
  };
}

function size(budget: Budget, value?: Value): bigint {
  if (typeof value === 'string') {
    budget.spend(value.length / CHARACTERS_COUNTED);
    return BigInt(value.length - surrogatePairsIn(value));
  }
  if (value !== undefined && isList(value)) return BigInt(value.length);
  if (value === undefined || !isMembers(value)) throw needs('a text, a list or an object', value);
  const keys = Object.keys(value).length;
  budget.spend(keys * COST_OF_KEY);
  return BigInt(keys);
}

function substring(budget: Budget, value?: Value, from?: Value, to?: Value): string {
  const text = asText(value);
  const start = asIndex(from);
  const end = to === undefined ? text.length : asIndex(to);
  if (start < 0 || end < start || end > text.length) {
    throw new Mismatch('This part is not within the text.');
  }
  budget.make(end - start);
  return text.slice(start, end);
}

function split(budget: Budget, value?: Value, by?: Value): string[] {
  const [text, separator] = [asText(value), asText(by)];
  budget.search(text, separator);
  budget.make(text.length);
  const parts = text.split(separator, MOST_ITEMS + 1);
  budget.items(parts.length);
  return parts;
}

function join(budget: Budget, value?: Value, by: Value = ''): string {
  if (value === undefined || !isList(value)) throw needs('a list', value);
  const separator = asText(by);
  budget.items(value.length);
  const texts = value.map(asText);
  const length = texts.reduce((sum, text) => sum + text.length + separator.length, 0);
  budget.make(length);
  return texts.join(separator);
}

function toInt(value: Value): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isFinite(value))
    return inRange(BigInt(Math.trunc(value)));
  if (typeof value === 'string' && WHOLE.test(value)) return inRange(BigInt(value));
  throw needs('a number, or a text of digits', value);
}

function toDouble(value: Value): number {
  if (isNumber(value)) return Number(value);
  if (typeof value === 'string' && value.length <= LONGEST_NUMBER && DECIMAL.test(value)) {
    return Number(value);
  }
  throw needs('a number, or a text of digits', value);
}

function toTruth(value: Value): boolean {
  const truth = typeof value === 'boolean' ? value : TRUTHS.get(value);
  if (truth === undefined) throw needs('true, false, "true" or "false"', value);
  return truth;
}

function surrogatePairsIn(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text.codePointAt(at)! <= 0xffff) continue;
    pairs += 1;
    at += 1;
  }
  return pairs;
}
