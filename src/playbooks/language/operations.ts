import { Environment, EvaluationError, type ParseResult } from '@marcbachmann/cel-js';
import { hasFormat } from '../../action-catalogue/parameters.js';
import { titleLine } from '../../incidents/raw-data-text.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { shownStart } from '../../platform/text.js';
import { isIsoTime } from '../../platform/validation/fields.js';
import {
  DEEPEST_NODE,
  LARGEST_COST,
  LARGEST_COST_OF_ALL,
  LONGEST_MADE_TEXT,
  MOST_ITEMS,
  MOST_NODES,
} from '../limits.js';

/**
 * Value of an expression. Values from outside are JSON, so their numbers are of type number (CEL: double). Integers in an
 * expression are of type bigint (CEL: int). Both types can be mixed.
 */
export type Value =
  null | boolean | number | bigint | string | Date | Duration | readonly Value[] | Members;

export interface Members {
  readonly [key: string]: Value;
}

interface Duration {
  valueOf(): number;
}

/** Maximum length of a message. Expressions contain names of any length, so messages are shortened. */
const LONGEST_MESSAGE = 300;

export class ExpressionError extends Error {
  constructor(
    message: string,
    /** Offset in UTF-16 units. The evaluation of the node adds the offset. */
    readonly offset?: number,
  ) {
    super(shownStart(message, LONGEST_MESSAGE));
    this.name = new.target.name;
  }

  /** Returns the message for the author of the field. Positions start at 1. */
  inField(field: string): FieldError {
    const message = `${field} at character ${(this.offset ?? 0) + 1}: ${this.message}`;
    return { field, code: 'expression', message };
  }
}

export function fail(message: string, offset?: number): never {
  throw new ExpressionError(message, offset);
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isMembers(value: Value): value is Members {
  return kindOf(value) === 'an object';
}

export function kindOf(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'boolean') return 'true or false';
  if (typeof value !== 'object') return 'a number';
  if (isList(value)) return 'a list';
  if (value instanceof Date) return 'a time';
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? 'an object' : 'a duration';
}

/** Reads own members only, never members of the prototype. An undefined member does not exist. */
export function memberOf(members: Members, key: string): Value | undefined {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

export function needs(wanted: string, value: Value, offset?: number): never {
  fail(`This takes ${wanted}, and here is ${kindOf(value)}.`, offset);
}

export function asText(value: Value): string {
  return typeof value === 'string' ? value : needs('a text', value);
}

export function asTruth(value: Value, offset?: number): boolean {
  return typeof value === 'boolean' ? value : needs('true or false', value, offset);
}

export function textOf(value: Value): string {
  const isPlain = value !== null && typeof value !== 'object';
  return isPlain ? String(value) : needs('a text, a number, or true or false', value);
}

/** Characters that are read or written in the time of one node. */
const CHARACTERS = 64;
/** Character pairs that the slowest text search compares in the time of one node. */
const PAIRS = 128;
const COST_OF_KEY = 3;

/**
 * Remaining cost of an evaluation. Counts work and not time, so that an expression with the same values has the same result on
 * a busy machine. An operation is charged before it begins, or right after it if its length is unknown before. Without budget,
 * every operation fails. `||` and loops continue after an error, but they are charged for the error.
 */
export class Budget {
  constructor(private left: number = LARGEST_COST) {}

  /**
   * Returns the budget of each step. The share is fixed, because unused budget of earlier steps would reveal values that these
   * steps read, such as the verdict. A dry run and a real run, which stops at each action, have the same budget.
   */
  static forOneOf(steps: number): Budget {
    return new Budget(Math.min(LARGEST_COST, LARGEST_COST_OF_ALL / steps));
  }

  spend(cost: number): void {
    this.left -= cost;
    if (this.left < 0) fail('This costs too much: its texts or lists are too long.');
  }

  make(characters: number): void {
    if (characters > LONGEST_MADE_TEXT) {
      fail(`This makes a text of more than ${LONGEST_MADE_TEXT} characters.`);
    }
    this.spend(characters / CHARACTERS);
  }

  keys(members: Members): string[] {
    const keys = Object.keys(members);
    this.spend(keys.length * COST_OF_KEY);
    return keys;
  }

  items(count: number): void {
    if (count > MOST_ITEMS) fail(`This list has more than ${MOST_ITEMS} items.`);
    this.spend(count);
  }
}

/** Function that keeps the text of a placeholder unchanged in texts for people. */
export const RAW = 'raw';

/** Library with the additional functions of this language. Numbers from JSON are double, and int and double can be mixed. */
export const LANGUAGE = new Environment({
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: MOST_NODES, maxDepth: DEEPEST_NODE, maxCallArguments: 8 },
})
  .registerFunction(`${RAW}(dyn): string`, textOf)
  .registerFunction('isIP(dyn): bool', (value: Value) => hasFormat('ip', asText(value)))
  .registerFunction('oneLine(dyn): string', (value: Value) => titleLine(textOf(value)) ?? '')
  .registerOperator('int == double: bool', (a: bigint, b: number) => Number(a) === b)
  .registerOperator('double % double: double', (a: number, b: number) => a % b);
const MIXED = {
  '+': (a: number, b: number) => a + b,
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
  '%': (a: number, b: number) => a % b,
};
for (const [sign, calculate] of Object.entries(MIXED)) {
  const mixed = (a: number | bigint, b: number | bigint) => calculate(Number(a), Number(b));
  LANGUAGE.registerOperator(`int ${sign} double: double`, mixed);
  LANGUAGE.registerOperator(`double ${sign} int: double`, mixed);
}

/** Functions of one operand. The interpreter implements `has`. */
export const FUNCTIONS: ReadonlySet<string> = new Set(
  `size dyn string int double bool timestamp duration ${RAW} isIP oneLine`.split(' '),
);
const SEARCHES = ['contains', 'indexOf', 'lastIndexOf', 'split'];
/** Parts of a time in UTC or in a named time zone. */
const TIME_PARTS = `getFullYear getMonth getDate getDayOfMonth getDayOfWeek getHours getMinutes
  getSeconds getMilliseconds`.split(/\s+/);
export const METHODS: ReadonlySet<string> = new Set([
  ...'size startsWith endsWith lowerAscii upperAscii trim substring join'.split(' '),
  ...SEARCHES,
  ...TIME_PARTS,
]);

/** Limits changes to ASCII, because the library also changes other letters. */
const ASCII = /[\0-\x7f]+/g;
const CHANGES: Readonly<Record<string, (text: string) => string>> = {
  lowerAscii: (text) => text.replace(ASCII, (part) => part.toLowerCase()),
  upperAscii: (text) => text.replace(ASCII, (part) => part.toUpperCase()),
};
/** Characters that are changed, or counted by `size`, in the time of one node. */
const CHARACTERS_CHANGED = 4;
const CHARACTERS_COUNTED = 16;
/** Cost of a time zone look-up in nodes. */
const COST_OF_ZONE = 3_000;
/** Maximum length of the text of a number, time, duration or time zone. */
const LONGEST_SHORT_TEXT = 40;
const TAKES_SHORT_TEXTS = ['int', 'double', 'bool', 'timestamp', 'duration', ...TIME_PARTS];

/** True if the library misreads the text: it reads a text without digits as 0, and a time without time zone as local. */
function isMisread(name: string, text: string): boolean {
  return (name === 'int' && text === '') || (name === 'timestamp' && !isIsoTime(text));
}

/** Calls a function or method. The first operand of a method is its receiver. */
export function call(
  name: string,
  isMethod: boolean,
  operands: readonly Value[],
  budget: Budget,
): Value {
  const [first = null, second = ''] = operands;
  if (name === 'dyn') return first;
  if (name === 'size' && isList(first)) return BigInt(first.length);
  if (name === 'size' && isMembers(first)) return BigInt(budget.keys(first).length);
  if (name === 'join' && isList(first)) return join(first, asText(second), budget);
  const texts = operands.filter((operand) => typeof operand === 'string');
  const [text = '', wanted = ''] = texts;
  if (typeof first === 'string' && isMisread(name, first)) fail(`This text has no ${name}().`);
  if (TAKES_SHORT_TEXTS.includes(name) && texts.some(({ length }) => length > LONGEST_SHORT_TEXT)) {
    fail(`This text is too long for ${name}().`);
  }
  if (TIME_PARTS.includes(name)) budget.spend(texts.length * COST_OF_ZONE);
  if (SEARCHES.includes(name)) budget.spend((text.length * wanted.length) / PAIRS);
  if (name === 'size') budget.spend(text.length / CHARACTERS_COUNTED);
  const change = CHANGES[name];
  if (change && typeof first === 'string') {
    budget.spend(first.length / CHARACTERS_CHANGED);
    return change(first);
  }
  const [receiver, ...given] = [...'abcdefghi'].slice(0, operands.length);
  const form = isMethod
    ? `${receiver}.${name}(${given.join()})`
    : `${name}(${[receiver, ...given].join()})`;
  const value = calculate(form, operands, budget);
  if (isList(value)) budget.items(value.length);
  return value;
}

function join(list: readonly Value[], separator: string, budget: Budget): string {
  budget.items(list.length);
  const texts = list.map(asText);
  budget.make(texts.reduce((sum, text) => sum + text.length + separator.length, 0));
  return texts.join(separator);
}

export const OPERATORS = ['==', '!=', '<', '<=', '>', '>=', 'in', '+', '-', '*', '/', '%'] as const;

export function operate(
  sign: (typeof OPERATORS)[number],
  left: Value,
  right: Value,
  budget: Budget,
): Value {
  if (sign === '==') return equal(left, right, budget);
  if (sign === '!=') return !equal(left, right, budget);
  if (sign === 'in') return isIn(left, right, budget);
  if (sign === '+' && isList(left) && isList(right)) {
    budget.items(left.length + right.length);
    return [...left, ...right];
  }
  if (sign === '+' && typeof left === 'string' && typeof right === 'string') {
    budget.make(left.length + right.length);
  }
  return calculate(`a ${sign} b`, [left, right], budget);
}

function isIn(value: Value, within: Value, budget: Budget): boolean {
  if (isList(within)) return within.some((item) => equal(value, item, budget));
  if (isMembers(within)) return typeof value === 'string' && memberOf(within, value) !== undefined;
  return needs('a list or an object', within);
}

/** Compares values. Values of different types are not equal, but an int equals the double of the same value. */
function equal(left: Value, right: Value, budget: Budget): boolean {
  budget.spend(1);
  if (kindOf(left) !== kindOf(right)) return false;
  if (isList(left)) {
    const others = right as readonly Value[];
    return (
      left.length === others.length &&
      left.every((item, index) => equal(item, others[index]!, budget))
    );
  }
  if (isMembers(left)) {
    const others = right as Members;
    const keys = budget.keys(left);
    if (keys.length !== budget.keys(others).length) return false;
    return keys.every((key) => {
      const other = memberOf(others, key);
      return other !== undefined && equal(left[key]!, other, budget);
    });
  }
  if (typeof left === 'string' && left.length !== (right as string).length) return false;
  return calculate('a == b', [left, right], budget) === true;
}

const COST_OF_CALCULATION = 4;
/** Cache of parsed forms. The number of forms is a few dozen. */
const prepared = new Map<string, ParseResult>();
const forms = LANGUAGE.clone({ unlistedVariablesAreDyn: true });

/**
 * Calculates with texts, numbers, times and booleans in the library. Lists and objects are excluded, because their cost has no
 * bound and the library never forgets their types.
 */
export function calculate(form: string, operands: readonly Value[], budget: Budget): Value {
  budget.spend(COST_OF_CALCULATION);
  for (const operand of operands) {
    if (typeof operand === 'string') budget.spend(operand.length / CHARACTERS);
    if (isList(operand) || isMembers(operand)) {
      fail(`This cannot be done with ${kindOf(operand)}.`);
    }
  }
  const evaluate = prepared.get(form) ?? forms.parse(form);
  prepared.set(form, evaluate);
  const [a, b, c, d] = operands;
  try {
    return evaluate({ a, b, c, d }) as Value;
  } catch (error) {
    if (error instanceof ExpressionError) throw error;
    return fail(
      error instanceof EvaluationError ? asSentence(error.summary) : 'This has no value.',
    );
  }
}

export function asSentence(summary: string): string {
  const words = summary
    .replace(/^no such overload:/, 'there is no operation')
    .replace(/^found no matching overload for/, 'there is no function')
    .replaceAll(/dyn<([\w.]+)>/g, '$1');
  return `${words.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase())}.`;
}
