import { Environment } from '@marcbachmann/cel-js';
import { hasFormat } from '../../action-catalogue/parameters.js';
import { titleLine } from '../../incidents/raw-data-text.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { shownStart } from '../../platform/text.js';
import { DEEPEST_NODE, MOST_NODES } from '../limits.js';

/** Numbers of JSON are of type number (CEL: double), integers in an expression of type bigint (CEL: int). */
export type Value =
  null | boolean | number | bigint | string | Date | Duration | readonly Value[] | Members;

export interface Members {
  readonly [key: string]: Value;
}

interface Duration {
  valueOf(): number;
}

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
export const SEARCHES = ['contains', 'indexOf', 'lastIndexOf', 'split'];
export const TIME_PARTS =
  `getFullYear getMonth getDate getDayOfMonth getDayOfWeek getHours getMinutes
  getSeconds getMilliseconds`.split(/\s+/);
export const METHODS: ReadonlySet<string> = new Set([
  ...'size startsWith endsWith lowerAscii upperAscii trim substring join'.split(' '),
  ...SEARCHES,
  ...TIME_PARTS,
]);

export function asSentence(summary: string): string {
  const words = summary
    .replace(/^no such overload:/, 'there is no operation')
    .replace(/^found no matching overload for/, 'there is no function')
    .replaceAll(/dyn<([\w.]+)>/g, '$1');
  return `${words.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase())}.`;
}
