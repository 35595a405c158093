import {
  LARGEST_COST,
  LARGEST_COST_OF_ALL,
  LONGEST_MADE_TEXT,
  MOST_ITEMS,
} from './playbook-definition.js';

/**
 * A value of an expression. What comes from outside is JSON as it is, so its numbers are of type number (CEL: double);
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

/** Something is no fit operand. Whoever knows where it stands makes an ExpressionError of it. */
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

/** Sees only what is in the value itself, never its prototype. A member that is undefined is none. */
export function memberOf(members: Members, key: string): Value | undefined {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

export function isNumber(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** As messages name it. */
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

/** Where a position or a length is wanted. */
export function asIndex(value: Value | undefined): number {
  const index = typeof value === 'bigint' ? Number(value) : value;
  if (typeof index === 'number' && Number.isInteger(index)) return index;
  throw needs('a whole number', value);
}

export function needs(wanted: string, value: Value | undefined): Mismatch {
  const found = value === undefined ? 'nothing' : kindOf(value);
  return new Mismatch(`This takes ${wanted}, and here is ${found}.`);
}

/** So many characters are gone through, or written, in the time that one node of an expression takes. */
const CHARACTERS = 64;
/** So many pairs of characters are compared in that time when a text is looked for in another at its worst. */
const PAIRS = 128;
const COST_OF_KEY = 3;

/**
 * What an evaluation may still cost. It counts work and not time, so that the same expression over the same values always
 * ends the same way, on a busy machine too. An operation pays before it begins, or when its length is known, right after. Once
 * the budget is spent nothing goes on: `||` and loops go on after an error, but they pay for it.
 */
export class Budget {
  constructor(private left: number = LARGEST_COST) {}

  /**
   * What each of so many steps may cost. A share that is fixed, because what the steps before left over would tell a later
   * one what they had read, such as the verdict; and a dry run and a real one, which stops at each action, have the same.
   */
  static forOneOf(steps: number): Budget {
    return new Budget(Math.min(LARGEST_COST, LARGEST_COST_OF_ALL / steps));
  }

  spend(cost: number): void {
    this.left -= cost;
    if (this.left < 0) throw new Mismatch('This costs too much: its texts or lists are too long.');
  }

  /** For going through texts of this length in all. */
  read(characters: number): void {
    this.spend(characters / CHARACTERS);
  }

  /** For looking for a text in another. */
  search(text: string, wanted: string): void {
    this.spend((text.length * wanted.length) / PAIRS + text.length / CHARACTERS);
  }

  make(characters: number): void {
    if (characters > LONGEST_MADE_TEXT) {
      throw new Mismatch(`This makes a text of more than ${LONGEST_MADE_TEXT} characters.`);
    }
    this.read(characters);
  }

  /** To list them takes longer than to go through as many items. */
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
