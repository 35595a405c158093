import {
  LARGEST_COST,
  LARGEST_COST_OF_ALL,
  LONGEST_MADE_TEXT,
  MOST_ITEMS,
} from './playbook-definition.js';

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
}

/** An operand has the wrong type or value. The caller adds the position and throws an ExpressionError. */
export class Mismatch extends Error {}

export function isMembers(value: Value): value is Members {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Date) &&
    !(value instanceof Duration)
  );
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
