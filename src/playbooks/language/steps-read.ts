import { readExpression } from './expression.js';
import { ExpressionError } from './expression-error.js';
import { fieldRead, type Node, nodesOf, ROOTS } from './expression-tree.js';
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
export function nodesOfStep(step: Expressions): Node[] | undefined {
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
