import type { Budget } from './budget.js';
import { compare, equal, isNumber } from './comparison.js';
import { inRange } from './conversions.js';
import { knownTime } from './times.js';
import { Duration, isList, isMembers, kindOf, memberOf, Mismatch, type Value } from './values.js';

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
