import { fieldRead, nodesOf, readExpression, ROOTS } from './expression.js';
import type { PlaybookStep } from './playbook-definition.js';
import { placeholdersOf, readTemplate } from './template.js';

type Expressions = Pick<PlaybookStep, 'condition' | 'parameters'>;

/** The names of the earlier steps of which the condition and the templates of a step read what they came to. */
export function stepsReadBy(step: Expressions): ReadonlySet<string> {
  const nodes = expressionsOf(step).flatMap((text) => nodesOf(readExpression(text, ROOTS)));
  const fields = nodes.map(fieldRead).filter((field) => field?.root === 'steps');
  return new Set(fields.map((field) => field!.name));
}

function expressionsOf({ condition, parameters }: Expressions): string[] {
  const templates = Object.values(parameters).filter((value) => typeof value === 'string');
  const placed = templates.flatMap((text) => placeholdersOf(readTemplate(text)));
  return [...(condition === undefined ? [] : [condition]), ...placed.map((one) => one.expression)];
}
