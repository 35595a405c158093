import { LARGEST_COST, LARGEST_COST_OF_ALL, LONGEST_MADE_TEXT, MOST_ITEMS } from '../playbook.js';

/**
 * A value of an expression. Values from outside are JSON, so their numbers are of type number (CEL: double);
 * whole numbers that are written in an expression are of type bigint (CEL: int). The two mix.
 */
export type Value =
  null | boolean | number | bigint | string | Date | Duration | readonly Value[] | Members;

export interface Members {
  readonly [key: string]: Value;
}

export class Duration {
  constructor(readonly milliseconds: number) {}

  valueOf(): number {
    return this.milliseconds;
  }
}

/** An operand has the wrong type or value. The caller adds the position and throws an ExpressionError. */
export class Mismatch extends Error {}

export function isMembers(value: Value): value is Members {
  return kindOf(value) === 'an object';
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Reads own members only, never those of the prototype. An undefined member does not exist. */
export function memberOf(members: Members, key: string): Value | undefined {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

export function isNumber(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Name of the type in messages. */
export function kindOf(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'boolean') return 'true or false';
  if (typeof value !== 'object') return 'a number';
  if (isList(value)) return 'a list';
  if (value instanceof Date) return 'a time';
  return value instanceof Duration ? 'a duration' : 'an object';
}

export function asText(value: Value | undefined): string {
  if (typeof value === 'string') return value;
  throw needs('a text', value);
}

export function asTruth(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  throw needs('true or false', value);
}

/** Requires a position or length. */
export function asIndex(value: Value | undefined): number {
  const index = typeof value === 'bigint' ? Number(value) : value;
  if (typeof index === 'number' && Number.isInteger(index)) return index;
  throw needs('a whole number', value);
}

export function needs(wanted: string, value: Value | undefined): Mismatch {
  const found = value === undefined ? 'nothing' : kindOf(value);
  return new Mismatch(`This takes ${wanted}, and here is ${found}.`);
}

/** Characters that are read or written in the time of one node. */
const CHARACTERS = 64;
/** Pairs of characters that the slowest text search compares in the time of one node. */
const PAIRS = 128;
const COST_OF_KEY = 3;

/**
 * Remaining cost of an evaluation. It counts work and not time, so that an expression with the same values has the same result
 * on a busy machine. An operation is charged before it begins, or right after it if only then its length is known. Without
 * budget every operation fails: `||` and loops continue after an error, but they are charged for it.
 */
export class Budget {
  constructor(private left: number = LARGEST_COST) {}

  /**
   * Budget of each of so many steps. The share is fixed: unused budget of earlier steps would reveal what they had read, such as
   * the verdict. A dry run and a real run, which stops at each action, have the same budget.
   */
  static forOneOf(steps: number): Budget {
    return new Budget(Math.min(LARGEST_COST, LARGEST_COST_OF_ALL / steps));
  }

  spend(cost: number): void {
    this.left -= cost;
    if (this.left < 0) throw new Mismatch('This costs too much: its texts or lists are too long.');
  }

  /** Charges for reading texts of this total length. */
  read(characters: number): void {
    this.spend(characters / CHARACTERS);
  }

  /** Charges for a text search. */
  search(text: string, wanted: string): void {
    this.spend((text.length * wanted.length) / PAIRS + text.length / CHARACTERS);
  }

  make(characters: number): void {
    if (characters > LONGEST_MADE_TEXT) {
      throw new Mismatch(`This makes a text of more than ${LONGEST_MADE_TEXT} characters.`);
    }
    this.read(characters);
  }

  /** Listing keys costs more than visiting as many items. */
  keys(members: Members): string[] {
    const keys = Object.keys(members);
    this.spend(keys.length * COST_OF_KEY);
    return keys;
  }

  items(count: number): void {
    if (count > MOST_ITEMS) throw new Mismatch(`This list has more than ${MOST_ITEMS} items.`);
    this.spend(count);
  }
}

export const OUT_OF_RANGE = 'This number is too large for a whole number of 64 bits.';

export function isInRange(number: bigint): boolean {
  return BigInt.asIntN(64, number) === number;
}

export function inRange(number: bigint): bigint {
  if (isInRange(number)) return number;
  throw new Mismatch(OUT_OF_RANGE);
}

/** Range of CEL timestamps: the years 1 to 9999. */
const EARLIEST = -62_135_596_800_000;
const LATEST = 253_402_300_799_999;

export function knownTime(milliseconds: number): Date {
  if (milliseconds >= EARLIEST && milliseconds <= LATEST) return new Date(milliseconds);
  throw new Mismatch('This time is out of range.');
}

type BinaryOperation = (left: Value, right: Value, budget: Budget) => Value;

export const OPERATORS = {
  '==': (left, right, budget) => equal(left, right, budget),
  '!=': (left, right, budget) => !equal(left, right, budget),
  '<': (left, right, budget) => compare(left, right, budget) < 0,
  '<=': (left, right, budget) => compare(left, right, budget) <= 0,
  '>': (left, right, budget) => compare(left, right, budget) > 0,
  '>=': (left, right, budget) => compare(left, right, budget) >= 0,
  in: isIn,
  '+': add,
  '-': subtract,
  '*': (left, right) => calculate('*', left, right),
  '/': (left, right) => calculate('/', left, right),
  '%': (left, right) => calculate('%', left, right),
} satisfies Record<string, BinaryOperation>;

export function negated(value: Value): Value {
  if (typeof value === 'bigint') return inRange(-value);
  if (typeof value === 'number') return -value;
  throw new Mismatch(`There is no negative of ${kindOf(value)}.`);
}

function isIn(value: Value, within: Value, budget: Budget): boolean {
  if (isList(within)) return within.some((item) => equal(value, item, budget));
  if (isMembers(within)) return typeof value === 'string' && memberOf(within, value) !== undefined;
  throw new Mismatch(`Nothing is in ${kindOf(within)}.`);
}

function add(left: Value, right: Value, budget: Budget): Value {
  if (typeof left === 'string' && typeof right === 'string') {
    budget.make(left.length + right.length);
    return left + right;
  }
  if (isList(left) && isList(right)) {
    budget.items(left.length + right.length);
    return [...left, ...right];
  }
  if (left instanceof Duration && right instanceof Date) return later(right, left.milliseconds);
  if (right instanceof Duration) return later(left, right.milliseconds);
  return calculate('+', left, right);
}

function subtract(left: Value, right: Value): Value {
  if (left instanceof Date && right instanceof Date) return new Duration(+left - +right);
  if (right instanceof Duration) return later(left, -right.milliseconds);
  return calculate('-', left, right);
}

/** Adds a duration to a time or a duration. */
function later(value: Value, milliseconds: number): Value {
  if (value instanceof Date) return knownTime(value.getTime() + milliseconds);
  if (value instanceof Duration) return new Duration(value.milliseconds + milliseconds);
  throw new Mismatch(`There is no + or - of ${kindOf(value)} and a duration.`);
}

/** Of whole numbers, and of all numbers. */
const ARITHMETIC = {
  '+': [(a: bigint, b: bigint) => a + b, (a: number, b: number) => a + b],
  '-': [(a: bigint, b: bigint) => a - b, (a: number, b: number) => a - b],
  '*': [(a: bigint, b: bigint) => a * b, (a: number, b: number) => a * b],
  '/': [(a: bigint, b: bigint) => a / b, (a: number, b: number) => a / b],
  '%': [(a: bigint, b: bigint) => a % b, (a: number, b: number) => a % b],
} as const;

function calculate(sign: keyof typeof ARITHMETIC, left: Value, right: Value): Value {
  if (!isNumber(left) || !isNumber(right)) {
    throw new Mismatch(`There is no ${sign} of ${kindOf(left)} and ${kindOf(right)}.`);
  }
  const [ofWhole, ofAny] = ARITHMETIC[sign];
  if (typeof left === 'number' || typeof right === 'number') {
    return ofAny(Number(left), Number(right));
  }
  if (right === 0n && (sign === '/' || sign === '%')) throw new Mismatch('This divides by zero.');
  return inRange(ofWhole(left, right));
}

/** Maximum depth of input and of built values. */
const DEEPEST = 100;

/** Values of different types are not equal. An int equals the double of the same value. */
function equal(left: Value, right: Value, budget: Budget, depth = 0): boolean {
  budget.spend(1);
  if (depth > DEEPEST) throw new Mismatch('These values are too deep to be compared.');
  if (kindOf(left) !== kindOf(right)) return false;
  if (isList(left)) {
    const others = right as readonly Value[];
    return (
      left.length === others.length &&
      left.every((item, index) => equal(item, others[index]!, budget, depth + 1))
    );
  }
  if (isMembers(left)) {
    const others = right as Members;
    const keys = budget.keys(left);
    if (keys.length !== budget.keys(others).length) return false;
    return keys.every((key) => {
      const other = memberOf(others, key);
      return other !== undefined && equal(left[key]!, other, budget, depth + 1);
    });
  }
  if (left === null) return true;
  if (typeof left === 'string' && left.length !== (right as string).length) return false;
  return compare(left, right, budget) === 0;
}

const ORDERED = ['a number', 'a text', 'true or false', 'a time', 'a duration'];

/** Returns a negative number, 0 or a positive number; NaN if an operand is NaN. */
function compare(left: Value, right: Value, budget: Budget): number {
  const kind = kindOf(left);
  if (kind !== kindOf(right) || !ORDERED.includes(kind)) {
    throw new Mismatch(`Here ${kind} and ${kindOf(right)} cannot be compared by < or >.`);
  }
  if (typeof left === 'string') budget.read(Math.min(left.length, (right as string).length));
  // JavaScript compares texts, booleans, and times by their values, and a bigint with a number.
  const [one, other] = [left, right] as [number, number];
  if (one < other) return -1;
  if (one > other) return 1;
  return Number.isNaN(one) || Number.isNaN(other) ? NaN : 0;
}
