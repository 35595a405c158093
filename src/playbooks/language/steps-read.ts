import { childrenOf, type Node, readExpression, ROOTS } from './expression.js';
import type { PlaybookStep } from './playbook-definition.js';
import { placeholdersOf, readTemplate } from './template.js';

/** The names of earlier steps, or `any` where only the evaluation shows which one it is. */
export type StepsRead = ReadonlySet<string> | 'any';

type Expressions = Pick<PlaybookStep, 'condition' | 'parameters'>;

/** Of which earlier steps the condition and the templates of a step read what they came to. */
export function stepsReadBy(step: Expressions): StepsRead {
  const names = new Set<string>();
  const isPlain = expressionsOf(step).every((text) => {
    return collect(readExpression(text, ROOTS), names);
  });
  return isPlain ? names : 'any';
}

function expressionsOf({ condition, parameters }: Expressions): string[] {
  const templates = Object.values(parameters).filter((value) => typeof value === 'string');
  const placed = templates.flatMap((text) => placeholdersOf(readTemplate(text)));
  return [...(condition === undefined ? [] : [condition]), ...placed.map((one) => one.expression)];
}

/** False where `steps` is used as a whole, or by a name that is not written there. */
function collect(node: Node, names: Set<string>): boolean {
  const name = nameOfStep(node);
  if (name !== undefined) {
    names.add(name);
    return true;
  }
  if (node.op === 'id') return node.args !== 'steps';
  return childrenOf(node).every((child) => collect(child, names));
}

/** `steps.name`, `steps["name"]`. */
function nameOfStep(node: Node): string | undefined {
  if (node.op === '.' || node.op === '.?') {
    return isSteps(node.args[0]) ? node.args[1] : undefined;
  }
  if (node.op !== '[]' && node.op !== '[?]') return undefined;
  const [of, index] = node.args;
  const isText = index.op === 'value' && typeof index.args === 'string';
  return isSteps(of) && isText ? String(index.args) : undefined;
}

function isSteps(node: Node): boolean {
  return node.op === 'id' && node.args === 'steps';
}
