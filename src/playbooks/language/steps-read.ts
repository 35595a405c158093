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

/** The names of the earlier steps of which the condition and the templates of a step read what they came to. */
export function stepsReadBy(step: Expressions): ReadonlySet<string> {
  // What does not parse is never evaluated, so it reads nothing: the step fails before.
  const fields = (nodesOfStep(step) ?? []).map(fieldRead);
  return new Set(fields.flatMap((field) => (field?.root === 'steps' ? [field.name] : [])));
}

/** Every node of the condition and the templates. Undefined if one of them does not parse, which is so in no saved playbook. */
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
 * The names of the steps in which the verdict has a say. Without the second and the third kind a playbook could do what a
 * model says by the way of a step that does nothing itself.
 * - Their condition reads the verdict.
 * - An expression of theirs reads what such a step came to.
 * - They come after such a step that ends the run when it fails: whether they are reached is up to it.
 *
 * A step whose text for people says the classification is not one of them, but its outcome may repeat the word.
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
