import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { shownName, shownStart } from '../../platform/text.js';
import {
  DEEPEST_NODE,
  LONGEST_EXPRESSION,
  MOST_LEVELS_BUILT,
  MOST_NESTED_LOOPS,
  MOST_NODES,
} from '../playbook.js';
import { FUNCTIONS, METHODS, RAW } from './functions.js';
import { isInRange, OUT_OF_RANGE } from './values.js';

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

  /** Returns the same error for a longer text, in which the expression begins at `start`. */
  within(start: number): ExpressionError {
    return new ExpressionError(this.offset + start, this.message);
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
export const TEMPLATE_ROOTS: readonly Root[] = ['incident', 'variables', 'steps'];

export function isRoot(name: string): name is Root {
  return (ROOTS as readonly string[]).includes(name);
}

/** Yields all nodes of the tree, the root first. */
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

export const CEL_OPTIONS = {
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: MOST_NODES, maxDepth: DEEPEST_NODE, maxCallArguments: 8 },
};
const reader = new Environment(CEL_OPTIONS);

/**
 * Parses an expression. The library accepts all of CEL; this function rejects what the language of playbooks does not have.
 * Throws ExpressionError with the position.
 */
export function readExpression(text: string, roots: readonly Root[]): Node {
  if (text.length > LONGEST_EXPRESSION) {
    fail(0, `An expression has at most ${LONGEST_EXPRESSION} characters.`);
  }
  const tree = parsed(text);
  judge(tree, { names: new Set<string>(roots), depth: 1, loops: 0 });
  if (levelsBuilt(tree) > MOST_LEVELS_BUILT) {
    fail(tree.start, `An expression nests at most ${MOST_LEVELS_BUILT} lists or objects.`);
  }
  return tree;
}

function parsed(text: string): Node {
  try {
    return reader.parse(text).ast;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return fail(error.range?.start ?? 0, syntaxProblem(error, text));
  }
}

/** Names that a node can use, and its depth. */
interface Place {
  readonly names: ReadonlySet<string>;
  readonly depth: number;
  readonly loops: number;
}

function judge(node: Node, place: Place): void {
  const problem = problemOf(node, place);
  if (problem !== undefined) fail(positionOf(node), problem);
  if (wholeNumber(node) !== undefined) return;
  const inside = { ...place, depth: place.depth + 1 };
  if (node.op === 'rcall' && isLoop(node.args[0])) return judgeLoop(node, inside);
  for (const child of childrenOf(node)) judge(child, inside);
}

/** Returns the problem of the node itself, without its children. */
function problemOf(node: Node, { names, depth }: Place): string | undefined {
  if (depth > DEEPEST_NODE) return `An expression is at most ${DEEPEST_NODE} levels deep.`;
  if (node.op === 'id' && !names.has(node.args)) return unknownName(node.args, names);
  if (node.op === 'value' && typeof node.args === 'object' && node.args !== null) {
    return 'Bytes and unsigned numbers are not part of this language.';
  }
  const number = wholeNumber(node);
  if (number !== undefined && !isInRange(number)) return OUT_OF_RANGE;
  const isText = (key: Node) => key.op === 'value' && typeof key.args === 'string';
  if (node.op === 'map' && !node.args.every(([key]) => isText(key))) {
    return 'The keys of an object are texts in quotes.';
  }
  if (node.op === 'call' && node.args[0] !== 'has' && !FUNCTIONS.has(node.args[0])) {
    return `There is no function ${node.args[0]}().`;
  }
  if (isRaw(node) && depth > 1) return 'raw() must enclose the whole expression.';
  if (node.op !== 'rcall') return undefined;
  const [name, , operands] = node.args;
  if (isLoop(name)) return undefined;
  const [, most] = METHODS.get(name) ?? [];
  if (most === undefined) {
    return name === 'matches'
      ? 'There are no regular expressions: use contains(), startsWith() or endsWith().'
      : `There is no function ${name}().`;
  }
  return operands.length > most ? `There are too many operands in ${name}().` : undefined;
}

/** Whether the expression is `raw(…)`, whose value is not defanged in texts for people. */
export function isRaw(node: Node): boolean {
  return node.op === 'call' && node.args[0] === RAW;
}

/** Reads a whole number with its sign, because the lowest 64-bit number has no positive counterpart. */
function wholeNumber(node: Node): bigint | undefined {
  if (node.op === 'value') return typeof node.args === 'bigint' ? node.args : undefined;
  if (node.op !== '-_' || node.args.op !== 'value') return undefined;
  const { args } = node.args;
  return typeof args === 'bigint' ? -args : undefined;
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

function judgeLoop(node: Extract<Node, { op: 'rcall' }>, place: Place): void {
  const [name, list, [variable, ...body]] = node.args;
  judge(list, place);
  if (variable?.op !== 'id' || body.length === 0) {
    fail(positionOf(node), `There has to be a name and an expression in ${name}().`);
  }
  if (isRoot(variable.args)) {
    fail(variable.pos, `The name ${variable.args} has a meaning already: choose another name.`);
  }
  if (place.loops === MOST_NESTED_LOOPS) {
    fail(positionOf(node), `At most ${MOST_NESTED_LOOPS} of ${LOOPS.join(', ')} may be nested.`);
  }
  const names = new Set([...place.names, variable.args]);
  for (const part of body) judge(part, { ...place, names, loops: place.loops + 1 });
}

function unknownName(name: string, names: ReadonlySet<string>): string {
  if (name === 'verdict') return 'A template cannot read the verdict; only a condition can.';
  return `There is no ${name} here. What can be read: ${[...names].join(', ')}.`;
}

const TOKENS: Readonly<Record<string, string>> = {
  RPAREN: '")"',
  RBRACKET: '"]"',
  RBRACE: '"}"',
  COLON: '":"',
  IDENTIFIER: 'a name',
};

const LIMITS: Readonly<Record<string, string>> = {
  maxAstNodes: 'parts',
  maxDepth: 'levels',
  maxCallArguments: 'operands of a function',
};

/** Returns the message of the library as a sentence, with readable names of tokens and limits. */
function syntaxProblem({ summary, range }: ParseError, text: string): string {
  const [, limit = '', most] = /^Exceeded (\w+) \((\d+)\)/.exec(summary) ?? [];
  if (most !== undefined) return `An expression has at most ${most} ${LIMITS[limit] ?? limit}.`;
  const [, token] = /^Expected (\w+)/.exec(summary) ?? [];
  if (token !== undefined) return `Expected ${TOKENS[token] ?? token} here.`;
  if (!summary.startsWith('Unexpected')) return asSentence(summary);
  const rest = text.slice(range?.start ?? 0);
  const [found] = /^(?:\w+|.)/su.exec(rest) ?? [];
  return found === undefined
    ? 'The expression ends too early.'
    : `Unexpected ${shownName(found)} here.`;
}

export function asSentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}
