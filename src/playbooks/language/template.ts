import { LONGEST_TEMPLATE, MOST_EXPRESSIONS } from '../playbook.js';
import { ExpressionError, fail, type Node, readExpression, TEMPLATE_ROOTS } from './expression.js';

/** Texts and the expressions in `{{ }}` between them. */
export type Template = readonly (string | Placeholder)[];

export interface Placeholder {
  readonly expression: string;
  /** Offset of the expression in the template. */
  readonly offset: number;
}

const OPEN = '{{';
const CLOSE = '}}';

/** Throws ExpressionError with the position in the template. */
export function readTemplate(text: string): Template {
  if (text.length > LONGEST_TEMPLATE) {
    fail(0, `A template has at most ${LONGEST_TEMPLATE} characters.`);
  }
  const parts: (string | Placeholder)[] = [];
  let at = 0;
  let expressions = 0;
  for (let open = text.indexOf(OPEN); open >= 0; open = text.indexOf(OPEN, at)) {
    expressions += 1;
    if (expressions > MOST_EXPRESSIONS) {
      fail(open, `A template has at most ${MOST_EXPRESSIONS} expressions.`);
    }
    if (open > at) parts.push(text.slice(at, open));
    const offset = open + OPEN.length;
    const close = endOfExpression(text, offset);
    if (close === undefined) fail(open, 'No }} ends this {{.');
    parts.push({ expression: text.slice(offset, close), offset });
    at = close + CLOSE.length;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

/** Returns the placeholder if it is the whole template: its value keeps its type. */
export function soleOf(template: Template): Placeholder | undefined {
  const [only, ...more] = template;
  return typeof only === 'object' && more.length === 0 ? only : undefined;
}

/** Uses the expression of a placeholder. Positions in errors count from the start of the template. */
export function withExpression<T>({ expression, offset }: Placeholder, use: (tree: Node) => T): T {
  try {
    return use(readExpression(expression, TEMPLATE_ROOTS));
  } catch (error) {
    throw error instanceof ExpressionError ? error.within(offset) : error;
  }
}

export function placeholdersOf(template: Template): Placeholder[] {
  return template.filter((part) => typeof part === 'object');
}

/** Finds the `}}` that is neither in a quoted text nor in an object of the expression. */
function endOfExpression(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"' || char === "'") at = endOfQuote(text, at);
    else if (char === '{') depth += 1;
    else if (char === '}' && depth > 0) depth -= 1;
    else if (text.startsWith(CLOSE, at)) return at;
  }
  return undefined;
}

/** A quoted text begins and ends with one quote or with three. */
function endOfQuote(text: string, start: number): number {
  const one = text[start]!;
  const mark = text.startsWith(one.repeat(3), start) ? one.repeat(3) : one;
  let at = start + mark.length;
  while (at < text.length && !text.startsWith(mark, at)) at += text[at] === '\\' ? 2 : 1;
  return at + mark.length - 1;
}
