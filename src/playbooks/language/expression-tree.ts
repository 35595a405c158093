import type { FieldError } from '../../platform/errors/app-error.js';
import { shownStart } from '../../platform/text.js';
import type { ASTNode } from '@marcbachmann/cel-js';

/** An expression may name anything, of any length. */
const LONGEST_MESSAGE = 300;

/** An expression cannot be read, or has no value. The message is a whole sentence that can be shown. */
export class ExpressionError extends Error {
  constructor(
    /** Where in the expression, counted in UTF-16 units from 0. */
    readonly offset: number,
    message: string,
  ) {
    super(shownStart(message, LONGEST_MESSAGE));
    this.name = new.target.name;
  }

  /** The same, in a longer text in which the expression begins at `start`. */
  within(start: number): ExpressionError {
    return new ExpressionError(this.offset + start, this.message);
  }

  /** As people read it who wrote the field: they count characters from 1. */
  inField(field: string): FieldError {
    const message = `${field} at character ${this.offset + 1}: ${this.message}`;
    return { field, code: 'expression', message };
  }
}

/** A part of an expression, with the parts that it is made of. */
export type Node = ASTNode;

/** What an expression may read. */
export const ROOTS = ['incident', 'variables', 'steps', 'verdict'] as const;
export type Root = (typeof ROOTS)[number];

/** The values of parameters never come from the verdict, because a model may have written it. */
export const TEMPLATE_ROOTS: readonly Root[] = ['incident', 'variables', 'steps'];

export function isRoot(name: string): name is Root {
  return ROOTS.some((root) => root === name);
}

/** Every node of the tree, the root first. */
export function nodesOf(node: Node): Node[] {
  return [node, ...childrenOf(node).flatMap(nodesOf)];
}

/** All nodes right below. The operands of a node are nodes, lists of nodes and texts. */
export function childrenOf(node: Node): readonly Node[] {
  const operands: readonly unknown[] = [node.args].flat(2);
  return operands.filter(isNode);
}

/** `incident.title`, or `incident["title"]`. */
export function fieldRead(node: Node): { root: Root; name: string } | undefined {
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const [left, right] = node.args;
  if (left.op !== 'id' || !isRoot(left.args)) return undefined;
  const name = typeof right === 'string' ? right : right.op === 'value' ? right.args : undefined;
  return typeof name === 'string' ? { root: left.args, name } : undefined;
}

/** Where people look for what a node does: for `incident.title.trim()` at `trim`, where the library has the first character. */
export function positionOf(node: Node): number {
  if (node.op !== 'rcall') return node.pos;
  const [name, receiver] = node.args;
  return node.input.indexOf(name, node.input.indexOf('.', receiver.end));
}

function isNode(operand: unknown): operand is Node {
  return typeof operand === 'object' && operand !== null && 'op' in operand;
}
