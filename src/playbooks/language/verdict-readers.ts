import { fieldRead, type Node } from './expression-tree.js';
import type { WrittenStep } from './playbook-definition.js';
import { nodesOfStep } from './steps-read.js';

/**
 * The names of the steps in which the verdict has a say. Without the second and the third kind a playbook could do what a
 * model says by the way of a step that does nothing itself.
 * - Their condition reads the verdict.
 * - An expression of theirs reads what such a step came to.
 * - They come after such a step that ends the run when it fails: whether they are reached is up to it.
 */
export function stepsUnderVerdict(steps: readonly WrittenStep[]): ReadonlySet<string> {
  const under = new Set<string>();
  let mayHaveEnded = false;
  for (const step of steps) {
    if (!mayHaveEnded && !isDecidedByVerdict(step, under)) continue;
    under.add(step.name);
    mayHaveEnded ||= step.on_error === 'stop';
  }
  return under;
}

/** An expression that does not parse may read anything. */
function isDecidedByVerdict(step: WrittenStep, under: ReadonlySet<string>): boolean {
  const nodes = nodesOfStep(step);
  return !nodes || nodes.some((node) => isVerdict(node) || isOutcomeOf(node, under));
}

/** By the tree: a text in quotes that says `verdict` reads nothing. */
function isVerdict(node: Node): boolean {
  return node.op === 'id' && node.args === 'verdict';
}

function isOutcomeOf(node: Node, steps: ReadonlySet<string>): boolean {
  const read = fieldRead(node);
  return read?.root === 'steps' && steps.has(read.name);
}
