import { readsClassification } from './expression-types.js';
import {
  ExpressionError,
  fieldRead,
  type Node,
  nodesOf,
  readExpression,
  ROOTS,
} from './expression.js';
import type { WrittenStep } from './playbook-definition.js';
import { placeholdersOf, readTemplate } from './template.js';

type Expressions = Pick<WrittenStep, 'condition' | 'parameters'>;

/** Returns the names of the earlier steps whose outcomes the step reads. */
export function stepsReadBy(step: Expressions): ReadonlySet<string> {
  // An expression that does not parse is never evaluated: the step fails before.
  const fields = (nodesOfStep(step) ?? []).map(fieldRead);
  return new Set(fields.flatMap((field) => (field?.root === 'steps' ? [field.name] : [])));
}

/** Returns all nodes of the condition and the templates; `undefined` if one does not parse, which no saved playbook has. */
function nodesOfStep(step: Expressions): Node[] | undefined {
  try {
    return expressionsOf(step).flatMap((text) => nodesOf(readExpression(text, ROOTS)));
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

function expressionsOf({ condition, parameters }: Expressions): string[] {
  const templates = Object.values(parameters).filter((value) => typeof value === 'string');
  const placed = templates.flatMap((text) => placeholdersOf(readTemplate(text)));
  return [...(condition === undefined ? [] : [condition]), ...placed.map((one) => one.expression)];
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
  for (const step of steps) {
    if (nodesOfStep(step)?.some(readsClassification)) telling.add(step.name);
    if (!mayHaveEnded && !isDecidedByVerdict(step, new Set([...under, ...telling]))) continue;
    under.add(step.name);
    mayHaveEnded ||= step.on_error === 'stop';
  }
  return under;
}

/** Treats an expression that does not parse as reading everything. */
function isDecidedByVerdict(step: WrittenStep, under: ReadonlySet<string>): boolean {
  const nodes = nodesOfStep(step);
  return !nodes || nodes.some((node) => isVerdict(node) || isOutcomeOf(node, under));
}

/** Checks the tree, because a quoted text `verdict` reads nothing. */
function isVerdict(node: Node): boolean {
  return node.op === 'id' && node.args === 'verdict';
}

function isOutcomeOf(node: Node, steps: ReadonlySet<string>): boolean {
  const read = fieldRead(node);
  return read?.root === 'steps' && steps.has(read.name);
}
