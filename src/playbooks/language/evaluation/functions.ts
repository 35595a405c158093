import type { Budget } from './budget.js';
import { isNumber } from './comparison.js';
import { readDuration, readTime, TIME_PARTS, type TimePart, timePart } from './times.js';
import { asIndex, asText, isList, isMembers, Mismatch, needs, type Value } from './values.js';
import { MOST_ITEMS } from '../limits.js';

/** Each pays for what it does before it does it. Of a method the first operand stands in front of the dot. */
type Operation = (budget: Budget, ...operands: Value[]) => Value;

/** A zone is looked up anew each time, which takes as long as so many nodes of an expression. */
const COST_OF_ZONE = 3_000;
/** So many characters are counted in the time of one node. */
const CHARACTERS_COUNTED = 16;
/** So many, when each is looked up in the tables of Unicode. */
const CHARACTERS_LOOKED_UP = 4;
const ASCII = /^[\0-\x7f]*$/;
const LONGEST_NUMBER = 40;
const WHOLE = /^[+-]?\d{1,19}$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const LEAST_INT = -(2n ** 63n);
const LARGEST_INT = 2n ** 63n - 1n;
/** The words that CEL reads as true and false. */
const TRUE = ['true', 'TRUE', 'True', 't', '1'];
const FALSE = ['false', 'FALSE', 'False', 'f', '0'];

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

/** With the number of operands that may stand in the brackets. */
const METHODS: ReadonlyMap<string, readonly [Operation, number]> = new Map<
  string,
  readonly [Operation, number]
>([
  ['size', [size, 0]],
  ['contains', [search((text, wanted) => text.includes(wanted)), 1]],
  ['indexOf', [search((text, wanted) => BigInt(text.indexOf(wanted))), 1]],
  ['lastIndexOf', [search((text, wanted) => BigInt(text.lastIndexOf(wanted))), 1]],
  ['startsWith', [atEnd((text, wanted) => text.startsWith(wanted)), 1]],
  ['endsWith', [atEnd((text, wanted) => text.endsWith(wanted)), 1]],
  ['lowerAscii', [change((text) => text.toLowerCase()), 0]],
  ['upperAscii', [change((text) => text.toUpperCase()), 0]],
  ['trim', [change((text) => text.trim()), 0]],
  ['substring', [substring, 2]],
  ['split', [split, 1]],
  ['join', [join, 1]],
  ...TIME_PARTS.map((part) => [part, [partOfTime(part), 1]] as const),
]);

export function isFunction(name: string): boolean {
  return name === 'has' || FUNCTIONS.has(name);
}

/** Of the method with this name, how many operands may stand in the brackets; undefined when there is none. */
export function mostOperands(name: string): number | undefined {
  return METHODS.get(name)?.[1];
}

export function callFunction(name: string, budget: Budget, operands: Value[]): Value {
  const operation = FUNCTIONS.get(name);
  if (!operation || operands.length !== 1)
    throw new Mismatch(`There has to be one operand in ${name}().`);
  return operation(budget, ...operands);
}

export function callMethod(name: string, budget: Budget, operands: Value[]): Value {
  const [operation] = METHODS.get(name) ?? [];
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

function change(work: (text: string) => string): Operation {
  return (budget, value) => {
    const text = asText(value);
    budget.make(text.length);
    if (!ASCII.test(text)) budget.spend(text.length / CHARACTERS_LOOKED_UP);
    return work(text);
  };
}

function search(look: (text: string, wanted: string) => Value): Operation {
  return (budget, value, what) => {
    const [text, wanted] = [asText(value), asText(what)];
    budget.search(text, wanted);
    return look(text, wanted);
  };
}

function atEnd(look: (text: string, wanted: string) => boolean): Operation {
  return (budget, value, what) => {
    const [text, wanted] = [asText(value), asText(what)];
    budget.read(wanted.length);
    return look(text, wanted);
  };
}

function partOfTime(part: TimePart): Operation {
  return (budget, value, zone) => {
    if (zone !== undefined) budget.spend(COST_OF_ZONE);
    return timePart(part, value, zone);
  };
}

function size(budget: Budget, value?: Value): bigint {
  if (typeof value === 'string') {
    budget.spend(value.length / CHARACTERS_COUNTED);
    return BigInt(value.length - surrogatePairsIn(value));
  }
  if (value !== undefined && isList(value)) return BigInt(value.length);
  if (value === undefined || !isMembers(value)) throw needs('a text, a list or an object', value);
  return BigInt(budget.keys(value).length);
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
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' && [...TRUE, ...FALSE].includes(value)) return TRUE.includes(value);
  throw needs('true or false, or such a word', value);
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
