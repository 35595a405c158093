import { fieldRead, type Node, nodesOf, readExpression, ROOTS } from './expression.js';
import { ExpressionError } from './expression-error.js';
import type { PlaybookStep } from './playbook-definition.js';
import { placeholdersOf, readTemplate } from './template.js';

/** Whether the condition reads the verdict. By its tree: a text in quotes that says `verdict` reads nothing. */
export function readsVerdict(condition: string): boolean {
  return nodesIn([condition])?.some(isVerdict) ?? true;
}

/**
 * The names of the steps in which the verdict has a say: their condition reads it, or an expression of theirs reads whether
 * such a step had a result. Without the second a playbook could do what a model says by the way of a step that does nothing.
 */
export function stepsUnderVerdict(steps: readonly PlaybookStep[]): ReadonlySet<string> {
  const under = new Set<string>();
  for (const step of steps) {
    const nodes = nodesIn(expressionsOf(step));
    if (!nodes || nodes.some((node) => isVerdict(node) || isResultOf(node, under))) {
      under.add(step.name);
    }
  }
  return under;
}

/** Undefined when one cannot be read: then nobody knows what it reads. A saved playbook has none such. */
function nodesIn(expressions: readonly string[] | undefined): Node[] | undefined {
  return readable(() => expressions?.flatMap((text) => nodesOf(readExpression(text, ROOTS))));
}

function expressionsOf({ condition, parameters }: PlaybookStep): string[] | undefined {
  const texts = Object.values(parameters).filter((value) => typeof value === 'string');
  const placeholders = readable(() => texts.flatMap((text) => placeholdersOf(readTemplate(text))));
  const inTemplates = placeholders?.map(({ expression }) => expression);
  return condition === undefined ? inTemplates : inTemplates?.concat(condition);
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

function isVerdict(node: Node): boolean {
  return node.op === 'id' && node.args === 'verdict';
}

function isResultOf(node: Node, steps: ReadonlySet<string>): boolean {
  const read = fieldRead(node);
  return read?.root === 'steps' && steps.has(read.name);
}
