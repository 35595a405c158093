import type { ASTNode } from '@marcbachmann/cel-js';

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
