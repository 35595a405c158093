import { type ASTNode, ParseError } from '@marcbachmann/cel-js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { shownStart } from '../../platform/text.js';
import {
  LONGEST_EXPRESSION,
  LONGEST_TEMPLATE,
  MOST_EXPRESSIONS,
  MOST_LEVELS_BUILT,
  MOST_NESTED_LOOPS,
  type WrittenStep,
} from '../playbook.js';
import { asSentence, FUNCTIONS, LANGUAGE, METHODS, RAW } from './operations.js';

/** Expressions contain names of any length, so messages are shortened. */
const LONGEST_MESSAGE = 300;

/** An expression is invalid or has no value. The message is a sentence for users. */
export class ExpressionError extends Error {
  constructor(
    /** Offset in the expression in UTF-16 units. */
    readonly offset: number,
    message: string,
  ) {
    super(shownStart(message, LONGEST_MESSAGE));
    this.name = new.target.name;
  }

  /** Message for the author of the field, with the position counted from 1. */
  inField(field: string): FieldError {
    const message = `${field} at character ${this.offset + 1}: ${this.message}`;
    return { field, code: 'expression', message };
  }
}

export function fail(offset: number, message: string): never {
  throw new ExpressionError(offset, message);
}

/** Node of the tree of an expression. */
export type Node = ASTNode;

/** Names that an expression can read. */
export const ROOTS = ['incident', 'variables', 'steps', 'verdict'] as const;
export type Root = (typeof ROOTS)[number];

/** The values of parameters never come from the verdict, because a model may have written it. */
const TEMPLATE_ROOTS: readonly Root[] = ['incident', 'variables', 'steps'];

export function isRoot(name: string): name is Root {
  return (ROOTS as readonly string[]).includes(name);
}

/** Returns all nodes of the tree, the root first. */
export function nodesOf(node: Node): Node[] {
  return [node, ...childrenOf(node).flatMap(nodesOf)];
}

/** Returns the children. Operands are nodes, lists of nodes and texts. */
export function childrenOf(node: Node): readonly Node[] {
  const operands: readonly unknown[] = [node.args].flat(2);
  return operands.filter(
    (operand): operand is Node =>
      typeof operand === 'object' && operand !== null && 'op' in operand,
  );
}

/** `incident.title`, or `incident["title"]`. */
export function fieldRead(node: Node): { root: Root; name: string } | undefined {
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const [left, right] = node.args;
  if (left.op !== 'id' || !isRoot(left.args)) return undefined;
  const name = typeof right === 'string' ? right : right.op === 'value' ? right.args : undefined;
  return typeof name === 'string' ? { root: left.args, name } : undefined;
}

/** Position that users expect: of `incident.title.trim()` the position of `trim`. The library names the first character. */
export function positionOf(node: Node): number {
  if (node.op !== 'rcall') return node.pos;
  const [name, receiver] = node.args;
  return node.input.indexOf(name, node.input.indexOf('.', receiver.end));
}

/** Functions that visit the items of a list or the keys of an object. */
const LOOPS = ['all', 'exists', 'exists_one', 'map', 'filter'] as const;
export type Loop = (typeof LOOPS)[number];

export function isLoop(name: string): name is Loop {
  return (LOOPS as readonly string[]).includes(name);
}

/** Whether the expression is `raw(…)`, whose value is not defanged in texts for people. */
export function isRaw(node: Node): boolean {
  return node.op === 'call' && node.args[0] === RAW;
}

/**
 * Parses an expression. The library accepts all of CEL; this function rejects what the language of playbooks does not have.
 * Throws ExpressionError with the position.
 */
export function readExpression(text: string, roots: readonly Root[]): Node {
  if (text.length > LONGEST_EXPRESSION) {
    fail(0, `An expression has at most ${LONGEST_EXPRESSION} characters.`);
  }
  const tree = parsed(text);
  for (const node of nodesOf(tree)) {
    const problem = problemOf(node, roots);
    if (problem !== undefined) fail(positionOf(node), problem);
    if (isRaw(node) && node !== tree) fail(node.pos, 'raw() must enclose the whole expression.');
  }
  if (levelsBuilt(tree) > MOST_LEVELS_BUILT) {
    fail(tree.start, `An expression nests at most ${MOST_LEVELS_BUILT} lists or objects.`);
  }
  if (loopsNested(tree) > MOST_NESTED_LOOPS) {
    fail(tree.start, `At most ${MOST_NESTED_LOOPS} of ${LOOPS.join(', ')} may be nested.`);
  }
  return tree;
}

function parsed(text: string): Node {
  try {
    return LANGUAGE.parse(text).ast;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return fail(error.range?.start ?? 0, asSentence(error.summary));
  }
}

/** Returns the problem of the node itself, without its children. */
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
  if (node.op === 'call') {
    const [name] = node.args;
    return name === 'has' || FUNCTIONS.has(name) ? undefined : `There is no function ${name}().`;
  }
  if (node.op !== 'rcall') return undefined;
  const [name, , [variable, ...body]] = node.args;
  if (name === 'matches') {
    return 'There are no regular expressions: use contains(), startsWith() or endsWith().';
  }
  if (!isLoop(name)) return METHODS.has(name) ? undefined : `There is no function ${name}().`;
  if (variable?.op !== 'id' || body.length === 0) {
    return `There has to be a name and an expression in ${name}().`;
  }
  return isRoot(variable.args) ? `The name ${variable.args} has a meaning already.` : undefined;
}

/** Returns how deep loops are nested. A loop over the list of another loop is not nested in it. */
function loopsNested(node: Node): number {
  if (node.op !== 'rcall' || !isLoop(node.args[0])) {
    return Math.max(0, ...childrenOf(node).map(loopsNested));
  }
  const [, list, body] = node.args;
  return Math.max(loopsNested(list), 1 + Math.max(...body.map(loopsNested)));
}

/** Returns the maximum depth of the type. The value that a loop builds can contain the value that it visits. */
function levelsBuilt(node: Node): number {
  const levels = childrenOf(node).map(levelsBuilt);
  if (node.op === 'rcall' && isLoop(node.args[0])) {
    return levels.reduce((sum, more) => sum + more, node.args[0] === 'map' ? 1 : 0);
  }
  const most = Math.max(0, ...levels);
  return node.op === 'list' || node.op === 'map' ? 1 + most : most;
}

/** Texts and the expressions in `{{ }}` between them. */
export type Template = readonly (string | Placeholder)[];

export interface Placeholder {
  readonly expression: string;
  /** Offset of the expression in the template. */
  readonly offset: number;
}

/** Throws ExpressionError with the position in the template. */
export function readTemplate(text: string): Template {
  if (text.length > LONGEST_TEMPLATE) {
    fail(0, `A template has at most ${LONGEST_TEMPLATE} characters.`);
  }
  const parts: (string | Placeholder)[] = [];
  let at = 0;
  for (let open = text.indexOf('{{'); open >= 0; open = text.indexOf('{{', at)) {
    if (open > at) parts.push(text.slice(at, open));
    const offset = open + 2;
    const close = endOfExpression(text, offset);
    if (close === undefined) fail(open, 'No }} ends this {{.');
    parts.push({ expression: text.slice(offset, close), offset });
    if (placeholdersOf(parts).length > MOST_EXPRESSIONS) {
      fail(open, `A template has at most ${MOST_EXPRESSIONS} expressions.`);
    }
    at = close + 2;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

/** Finds the `}}` that is neither in a quoted text nor in an object of the expression. */
function endOfExpression(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"' || char === "'") at = endOfQuote(text, at);
    else if (char === '{') depth += 1;
    else if (char === '}' && depth > 0) depth -= 1;
    else if (text.startsWith('}}', at)) return at;
  }
  return undefined;
}

/** A quoted text begins and ends with one quote or with three. */
function endOfQuote(text: string, start: number): number {
  const one = text[start]!;
  const mark = text.startsWith(one.repeat(3), start) ? one.repeat(3) : one;
  let at = start + mark.length;
  while (at < text.length && !text.startsWith(mark, at)) at += text[at] === '\\' ? 2 : 1;
  return at + mark.length - 1;
}

export function placeholdersOf(template: Template): Placeholder[] {
  return template.filter((part) => typeof part === 'object');
}

/** Returns the placeholder if it is the whole template: its value keeps its type. */
export function soleOf(template: Template): Placeholder | undefined {
  const [only] = template;
  return typeof only === 'object' && template.length === 1 ? only : undefined;
}

/** Uses the expression of a placeholder. Positions in errors count from the start of the template. */
export function withExpression<T>({ expression, offset }: Placeholder, use: (tree: Node) => T): T {
  try {
    return use(readExpression(expression, TEMPLATE_ROOTS));
  } catch (error) {
    if (error instanceof ExpressionError) fail(error.offset + offset, error.message);
    throw error;
  }
}

type Expressions = Pick<WrittenStep, 'condition' | 'parameters'>;

/** Returns the names of the earlier steps whose outcomes the step reads. */
export function stepsReadBy(step: Expressions): ReadonlySet<string> {
  // An expression that does not parse is never evaluated: the step fails before.
  const fields = (nodesOfStep(step) ?? []).map(fieldRead);
  return new Set(fields.flatMap((field) => (field?.root === 'steps' ? [field.name] : [])));
}

/** Returns all nodes of the condition and the templates; `undefined` if one does not parse, which no saved playbook has. */
function nodesOfStep({ condition, parameters }: Expressions): Node[] | undefined {
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
 * Returns the names of the steps that depend on the verdict. Without the second and third rule, a model could control a step
 * through another step that does nothing itself.
 * - The condition reads the verdict.
 * - An expression reads the outcome of such a step.
 * - The step follows such a step that ends the run if it fails.
 *
 * A step whose text for people contains the classification does not depend on the verdict, but its outcome may repeat the word.
 */
export function stepsUnderVerdict(steps: readonly WrittenStep[]): ReadonlySet<string> {
  const under = new Set<string>();
  const telling = new Set<string>();
  let mayHaveEnded = false;
  const depends = (node: Node) => {
    const read = fieldRead(node);
    if (read?.root === 'steps') return under.has(read.name) || telling.has(read.name);
    return node.op === 'id' && node.args === 'verdict';
  };
  for (const step of steps) {
    // An expression that does not parse counts as reading everything.
    const nodes = nodesOfStep(step);
    const isUnder = mayHaveEnded || !nodes || nodes.some(depends);
    if (nodes?.some(readsClassification)) telling.add(step.name);
    if (!isUnder) continue;
    under.add(step.name);
    mayHaveEnded ||= step.on_error === 'stop';
  }
  return under;
}

/** Whether the node reads the classification of the incident, which only texts for people can contain. */
export function readsClassification(node: Node): boolean {
  const read = fieldRead(node);
  return read?.root === 'incident' && read.name === 'classification';
}
