import type { WrittenStep } from '../playbook.js';
import {
  ExpressionError,
  fieldRead,
  type Node,
  nodesOf,
  placeholdersOf,
  readExpression,
  readTemplate,
  ROOTS,
} from './expression.js';

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
