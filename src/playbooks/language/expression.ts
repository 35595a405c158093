import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { hasFormat } from '../../action-catalogue/parameters.js';
import { titleLine } from '../../incidents/raw-data-text.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { shownStart } from '../../platform/text.js';
import { LONGEST_EXPRESSION } from '../playbook.dto.js';
import type { PlaybookStep } from '../playbook.js';

const LONGEST_TEMPLATE = 8_192;
const MOST_EXPRESSIONS = 50;
const LIMITS = { maxAstNodes: 500, maxDepth: 60, maxCallArguments: 8 };
/** Limits the nesting of built values, because the CEL library caches each type and never removes it. */
const MOST_LEVELS_BUILT = 4;

/** Value in an expression. Numbers of JSON are type number (CEL double), integers of expressions bigint (CEL int). */
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
    /** Position of the error in UTF-16 units: first in the expression, and after withExpression in the field. */
    public offset?: number,
  ) {
    super(shownStart(message, LONGEST_MESSAGE));
    this.name = new.target.name;
  }

  inField(field: string): FieldError {
    const message = `${field} at character ${(this.offset ?? 0) + 1}: ${this.message}`;
    return { field, code: 'expression', message };
  }
}

export class UnknownResultError extends ExpressionError {}

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

/** Reads only own members, never members of the prototype. A member with the value undefined does not exist. */
export function memberOf(members: Members, key: string): Value | undefined {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

export function needs(wanted: string, value: Value, offset?: number): never {
  fail(`The value must be ${wanted}, but it is ${kindOf(value)}.`, offset);
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

/** Name of the function that inserts a value unchanged into a text for people. */
const RAW = 'raw';

/** CEL library with the functions of playbooks. Accepts int and double together: numbers of JSON are double. */
export const LANGUAGE = new Environment({ homogeneousAggregateLiterals: false, limits: LIMITS })
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

export const SEARCHES = ['contains', 'indexOf', 'lastIndexOf', 'split'];
export const TIME_PARTS =
  `getFullYear getMonth getDate getDayOfMonth getDayOfWeek getHours getMinutes
  getSeconds getMilliseconds`.split(/\s+/);
/** Functions of the language. The type check rejects a function called as a method, and a method as a function. */
const FUNCTIONS: ReadonlySet<string> = new Set([
  ...`has size dyn string int double bool timestamp duration ${RAW} isIP oneLine`.split(' '),
  ...'startsWith endsWith lowerAscii upperAscii trim substring join'.split(' '),
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

export type Node = ASTNode;

export const ROOTS = ['incident', 'variables', 'steps', 'verdict'] as const;
export type Root = (typeof ROOTS)[number];

/** Parameters must never contain values of the verdict, because a model may have written the verdict. */
export const TEMPLATE_ROOTS: readonly Root[] = ['incident', 'variables', 'steps'];

export function isRoot(name: string): name is Root {
  return (ROOTS as readonly string[]).includes(name);
}

function nodesOf(node: Node): Node[] {
  return [node, ...childrenOf(node).flatMap(nodesOf)];
}

export function childrenOf(node: Node): readonly Node[] {
  const operands: readonly unknown[] = [node.args].flat(2);
  return operands.filter(
    (operand): operand is Node =>
      typeof operand === 'object' && operand !== null && 'op' in operand,
  );
}

export function fieldRead(node: Node): { root: Root; name: string } | undefined {
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const [left, right] = node.args;
  if (left.op !== 'id' || !isRoot(left.args)) return undefined;
  const name = typeof right === 'string' ? right : right.op === 'value' ? right.args : undefined;
  return typeof name === 'string' ? { root: left.args, name } : undefined;
}

/** Returns the position of `trim` in `incident.title.trim()`. The library returns that of the first character. */
export function positionOf(node: Node): number {
  if (node.op !== 'rcall') return node.pos;
  const [name, receiver] = node.args;
  return node.input.indexOf(name, node.input.indexOf('.', receiver.end));
}

const LOOPS = ['all', 'exists', 'exists_one', 'map', 'filter'] as const;
export type Loop = (typeof LOOPS)[number];

export function isLoop(name: string): name is Loop {
  return (LOOPS as readonly string[]).includes(name);
}

export function isRaw(node: Node): boolean {
  return node.op === 'call' && node.args[0] === RAW;
}

/** Parses an expression. Rejects parts of CEL that playbooks do not have. Throws ExpressionError with the position. */
export function readExpression(text: string, roots: readonly Root[]): Node {
  if (text.length > LONGEST_EXPRESSION) {
    fail(`An expression has at most ${LONGEST_EXPRESSION} characters.`, 0);
  }
  const tree = parsed(text);
  for (const node of nodesOf(tree)) {
    const problem = problemOf(node, roots);
    if (problem !== undefined) fail(problem, positionOf(node));
    if (isRaw(node) && node !== tree) fail('raw() must enclose the whole expression.', node.pos);
  }
  if (levelsBuilt(tree) > MOST_LEVELS_BUILT) {
    fail(`An expression nests at most ${MOST_LEVELS_BUILT} lists or objects.`, tree.start);
  }
  return tree;
}

function parsed(text: string): Node {
  try {
    return LANGUAGE.parse(text).ast;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return fail(asSentence(error.summary), error.range?.start ?? 0);
  }
}

function problemOf(node: Node, roots: readonly Root[]): string | undefined {
  if (node.op === 'id' && isRoot(node.args) && !roots.includes(node.args)) {
    return `A template cannot read the ${node.args}; only a condition can.`;
  }
  if (node.op === 'value' && typeof node.args === 'object' && node.args !== null) {
    return 'Bytes and unsigned numbers are not part of this language.';
  }
  const isText = (key: Node) => key.op === 'value' && typeof key.args === 'string';
  if (node.op === 'map' && !node.args.every(([key]) => isText(key))) {
    return 'The keys of an object are texts in quotes.';
  }
  if (node.op !== 'call' && node.op !== 'rcall') return undefined;
  const [name] = node.args;
  if (node.op === 'call' || !isLoop(name)) {
    return FUNCTIONS.has(name) ? undefined : `There is no function ${name}().`;
  }
  const [variable, ...body] = node.args[2];
  if (variable?.op !== 'id' || body.length === 0) {
    return `${name}() needs a name and an expression.`;
  }
  return isRoot(variable.args)
    ? `The name ${variable.args} is reserved: choose another name.`
    : undefined;
}

/** Returns the depth of a value's type. Depths of a loop and its list add up: each result may contain the item. */
function levelsBuilt(node: Node): number {
  const levels = childrenOf(node).map(levelsBuilt);
  if (node.op === 'rcall' && isLoop(node.args[0])) {
    return levels.reduce((sum, more) => sum + more, node.args[0] === 'map' ? 1 : 0);
  }
  const most = Math.max(0, ...levels);
  return node.op === 'list' || node.op === 'map' ? 1 + most : most;
}

export type Template = readonly (string | Placeholder)[];

export interface Placeholder {
  readonly expression: string;
  readonly offset: number;
}

/** Within quotes, `}}` does not end an expression. Outside quotes, write `} }`. */
const PLACEHOLDER = /\{\{(?:((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"'}]|\}(?!\}))*)\}\})?/gs;

export function readTemplate(text: string): Template {
  if (text.length > LONGEST_TEMPLATE) {
    fail(`A template has at most ${LONGEST_TEMPLATE} characters.`, 0);
  }
  const parts: (string | Placeholder)[] = [];
  let at = 0;
  for (const { 0: all, 1: expression, index } of text.matchAll(PLACEHOLDER)) {
    if (expression === undefined) fail('No }} ends this {{.', index);
    if (index > at) parts.push(text.slice(at, index));
    parts.push({ expression, offset: index + 2 });
    if (placeholdersOf(parts).length > MOST_EXPRESSIONS) {
      fail(`A template has at most ${MOST_EXPRESSIONS} expressions.`, index);
    }
    at = index + all.length;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

export function placeholdersOf(template: Template): Placeholder[] {
  return template.filter((part) => typeof part === 'object');
}

export function soleOf(template: Template): Placeholder | undefined {
  const [only] = template;
  return typeof only === 'object' && template.length === 1 ? only : undefined;
}

/** Parses an expression and passes it to `use`. Positions of errors are counted from the start of the template. */
export function withExpression<T>(
  { expression, offset }: Placeholder,
  roots: readonly Root[],
  use: (tree: Node) => T,
): T {
  let start = 0;
  try {
    const tree = readExpression(expression, roots);
    start = tree.start;
    return use(tree);
  } catch (error) {
    if (error instanceof ExpressionError) error.offset = offset + (error.offset ?? start);
    throw error;
  }
}

/** Returns undefined if at least one expression of the step cannot be parsed. */
function nodesOfStep({ condition, parameters }: PlaybookStep): Node[] | undefined {
  try {
    const templates = Object.values(parameters).filter((value) => typeof value === 'string');
    const placed = templates.flatMap((text) => placeholdersOf(readTemplate(text)));
    const texts = placed.map(({ expression }) => expression).concat(condition ?? []);
    return texts.flatMap((text) => nodesOf(readExpression(text, ROOTS)));
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/**
 * Returns the names of the steps that depend on the verdict. A step depends on the verdict if its condition reads the
 * verdict, if one of its expressions reads the outcome of such a step, or if an earlier such step can end the run. A
 * step whose text contains the classification counts too, because its outcome may repeat the classification.
 */
export function stepsUnderVerdict(steps: readonly PlaybookStep[]): ReadonlySet<string> {
  const under = new Set<string>();
  const telling = new Set<string>();
  let mayHaveEnded = false;
  for (const step of steps) {
    const nodes = nodesOfStep(step);
    const reads = (nodes ?? []).flatMap((node) => fieldRead(node) ?? []);
    if (reads.some(({ root, name }) => root === 'incident' && name === 'classification')) {
      telling.add(step.name);
    }
    const isUnder =
      !nodes ||
      nodes.some(({ op, args }) => op === 'id' && args === 'verdict') ||
      reads.some(({ root, name }) => root === 'steps' && (under.has(name) || telling.has(name)));
    if (!mayHaveEnded && !isUnder) continue;
    under.add(step.name);
    mayHaveEnded ||= step.on_error === 'stop';
  }
  return under;
}
