import {
  type Budget,
  Duration,
  isList,
  isMembers,
  isNumber,
  kindOf,
  memberOf,
  type Members,
  Mismatch,
  type Value,
} from './values.js';
import { inRange, knownTime } from './functions.js';

export type BinaryOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | Sign | '+';
type Sign = '-' | '*' | '/' | '%';

type Operation = (left: Value, right: Value, budget: Budget) => Value;

const OPERATIONS: Readonly<Record<BinaryOperator, Operation>> = {
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
};

export function isBinaryOperator(operator: string): operator is BinaryOperator {
  return Object.hasOwn(OPERATIONS, operator);
}

export function operate(
  operator: BinaryOperator,
  left: Value,
  right: Value,
  budget: Budget,
): Value {
  return OPERATIONS[operator](left, right, budget);
}

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
  if (left instanceof Date && right instanceof Duration) {
    return knownTime(left.getTime() + right.milliseconds);
  }
  if (left instanceof Duration && right instanceof Date) return add(right, left, budget);
  if (left instanceof Duration && right instanceof Duration) {
    return new Duration(left.milliseconds + right.milliseconds);
  }
  return calculate('+', left, right);
}

function subtract(left: Value, right: Value): Value {
  if (left instanceof Date && right instanceof Date) {
    return new Duration(left.getTime() - right.getTime());
  }
  if (left instanceof Date && right instanceof Duration) {
    return knownTime(left.getTime() - right.milliseconds);
  }
  if (left instanceof Duration && right instanceof Duration) {
    return new Duration(left.milliseconds - right.milliseconds);
  }
  return calculate('-', left, right);
}

function calculate(operator: Sign | '+', left: Value, right: Value): Value {
  if (!isNumber(left) || !isNumber(right)) {
    throw new Mismatch(`There is no ${operator} of ${kindOf(left)} and ${kindOf(right)}.`);
  }
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    return inRange(ofIntegers(operator, left, right));
  }
  return ofDoubles(operator, Number(left), Number(right));
}

function ofIntegers(operator: Sign | '+', left: bigint, right: bigint): bigint {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
    case '%':
      if (right === 0n) throw new Mismatch('This divides by zero.');
      return operator === '/' ? left / right : left % right;
  }
}

function ofDoubles(operator: Sign | '+', left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    case '%':
      return left % right;
  }
}

/** Maximum depth of input and of built values. */
const DEEPEST = 100;

/** Values of different types are not equal. An int equals the double of the same value. */
function equal(left: Value, right: Value, budget: Budget, depth = 0): boolean {
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

/** Returns a negative number, 0 or a positive number; NaN if an operand is NaN. */
function compare(left: Value, right: Value, budget: Budget): number {
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
  throw new Mismatch(`Here ${kindOf(left)} and ${kindOf(right)} cannot be compared by < or >.`);
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
