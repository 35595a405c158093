import type { Budget } from './budget.js';
import { textOf, toDouble, toInt, toTruth } from './conversions.js';
import {
  atEnd,
  change,
  charactersIn,
  join,
  type Operation,
  search,
  split,
  substring,
} from './text-functions.js';
import { readDuration, readTime, TIME_PARTS, type TimePart, timePart } from './times.js';
import { isList, isMembers, Mismatch, needs, type Value } from './values.js';

/** Keeps the text of a whole placeholder as it is where people read it. */
export const RAW = 'raw';

/** A zone is looked up anew each time, which takes as long as so many nodes of an expression. */
const COST_OF_ZONE = 3_000;
const FUNCTIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['size', size],
  ['dyn', (_, value) => value!],
  ['string', (_, value) => textOf(value)],
  ['int', (_, value) => toInt(value)],
  ['double', (_, value) => toDouble(value)],
  ['bool', (_, value) => toTruth(value)],
  ['timestamp', (_, value) => readTime(value)],
  ['duration', (_, value) => readDuration(value)],
  [RAW, (_, value) => textOf(value)],
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

export const NO_PATH = 'There has to be a path in has(), such as incident.raw_data.sender.';

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

function partOfTime(part: TimePart): Operation {
  return (budget, value, zone) => {
    if (zone !== undefined) budget.spend(COST_OF_ZONE);
    return timePart(part, value, zone);
  };
}

function size(budget: Budget, value?: Value): bigint {
  if (typeof value === 'string') return charactersIn(value, budget);
  if (value !== undefined && isList(value)) return BigInt(value.length);
  if (value === undefined || !isMembers(value)) throw needs('a text, a list or an object', value);
  return BigInt(budget.keys(value).length);
}
