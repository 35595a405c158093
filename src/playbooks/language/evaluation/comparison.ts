import { asSubject } from '../type-words.js';
import type { Budget } from './budget.js';
import {
  Duration,
  isList,
  isMembers,
  kindOf,
  memberOf,
  type Members,
  Mismatch,
  type Value,
} from './values.js';

/** Input and built values both stay below this depth. */
const DEEPEST = 100;

/** Values of different kinds are not equal; a whole number equals the same number with a fraction of zero. */
export function equal(left: Value, right: Value, budget: Budget, depth = 0): boolean {
  budget.spend(1);
  if (depth > DEEPEST) throw new Mismatch('These values are too deep to be compared.');
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length !== right.length) return false;
    budget.read(left.length);
    return left === right;
  }
  if (isNumber(left) && isNumber(right)) return numbersEqual(left, right);
  if (left instanceof Date || left instanceof Duration) return sameMoment(left, right);
  if (isList(left)) return isList(right) && listsEqual(left, right, budget, depth + 1);
  if (left === null || typeof left !== 'object') return left === right;
  return isMembers(right) && membersEqual(left, right, budget, depth + 1);
}

export function isNumber(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Less than 0, 0 or more than 0; NaN when a number is none. */
export function compare(left: Value, right: Value, budget: Budget): number {
  if (isNumber(left) && isNumber(right))
    return left < right ? -1 : left > right ? 1 : tie(left, right);
  if (typeof left === 'string' && typeof right === 'string') {
    budget.read(Math.min(left.length, right.length));
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if (left instanceof Date && right instanceof Date) return left.getTime() - right.getTime();
  if (left instanceof Duration && right instanceof Duration) {
    return left.milliseconds - right.milliseconds;
  }
  throw new Mismatch(incomparable(kindOf(left), kindOf(right)));
}

export function incomparable(left: string, right: string): string {
  return `${asSubject(left)} and ${right} cannot be compared by < or >.`;
}

function tie(left: number | bigint, right: number | bigint): number {
  return numbersEqual(left, right) ? 0 : NaN;
}

function numbersEqual(left: number | bigint, right: number | bigint): boolean {
  return !(left < right) && !(left > right) && !Number.isNaN(left) && !Number.isNaN(right);
}

function sameMoment(left: Date | Duration, right: Value): boolean {
  if (left instanceof Date) return right instanceof Date && left.getTime() === right.getTime();
  return right instanceof Duration && left.milliseconds === right.milliseconds;
}

function listsEqual(
  left: readonly Value[],
  right: readonly Value[],
  budget: Budget,
  depth: number,
): boolean {
  return (
    left.length === right.length &&
    left.every((item, index) => equal(item, right[index]!, budget, depth))
  );
}

function membersEqual(left: Members, right: Members, budget: Budget, depth: number): boolean {
  const keys = budget.keys(left);
  if (keys.length !== budget.keys(right).length) return false;
  return keys.every((key) => {
    const other = memberOf(right, key);
    return other !== undefined && equal(left[key]!, other, budget, depth);
  });
}
