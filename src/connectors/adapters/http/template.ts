/** A text with references such as `{{ parameters.ip }}`. Values are put in, nothing is computed, and a value is never read as a template. */
export type Template = readonly (string | Reference)[];

export const ROOTS = ['parameters', 'secrets', 'action'] as const;
export type Root = (typeof ROOTS)[number];

export interface Reference {
  readonly root: Root;
  readonly name: string;
  /** As it is written, for error messages. */
  readonly expression: string;
  /** The character at which it begins, counted from 1. */
  readonly position: number;
}

export class TemplateError extends Error {
  constructor(
    readonly position: number,
    readonly problem: string,
  ) {
    super(`${problem} at character ${position}`);
    this.name = new.target.name;
  }
}

const OPEN = '{{';
const CLOSE = '}}';
const LONGEST_SHOWN = 100;
const EXPRESSION = /^\s*(parameters|secrets|action)\.([A-Za-z_][A-Za-z0-9_]*)\s*$/;

export function parseTemplate(text: string): Template {
  const parts: (string | Reference)[] = [];
  let at = 0;
  for (;;) {
    const open = text.indexOf(OPEN, at);
    if (open < 0) break;
    const close = text.indexOf(CLOSE, open);
    if (close < 0) throw new TemplateError(open + 1, 'has a {{ that no }} follows');
    if (open > at) parts.push(text.slice(at, open));
    at = close + CLOSE.length;
    parts.push(parseReference(text.slice(open, at), open + 1));
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

function parseReference(expression: string, position: number): Reference {
  const [, root, name] = EXPRESSION.exec(expression.slice(OPEN.length, -CLOSE.length)) ?? [];
  if (root === undefined || name === undefined) {
    const expected = 'parameters.<name>, secrets.<name> or action.id';
    throw new TemplateError(position, `has ${shown(expression)}, something else than ${expected},`);
  }
  if (root === 'action' && name !== 'id') {
    const problem = `has ${shown(expression)}, and of an action there is only action.id,`;
    throw new TemplateError(position, problem);
  }
  return { root: root as Root, name, expression: shown(expression), position };
}

function shown(expression: string): string {
  return expression.length > LONGEST_SHOWN ? `${expression.slice(0, LONGEST_SHOWN)}…` : expression;
}

export function referencesIn(template: Template): Reference[] {
  return template.filter((part) => typeof part !== 'string');
}

/** The values that references stand for. */
export type Scope = Readonly<Record<Root, Readonly<Record<string, unknown>>>>;

/** What a reference stands for; undefined when there is no such value. */
export function valueOf(scope: Scope, { root, name }: Reference): unknown {
  const values = scope[root];
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/**
 * The text with all values in it.
 *
 * @param escape makes a value safe for the place where it is put
 * @param each is called with each part before they are joined
 */
export function fill(
  template: Template,
  scope: Scope,
  escape: (text: string, reference: Reference) => string,
  each: (part: string) => void,
): string {
  return template
    .map((part) => {
      const text = typeof part === 'string' ? part : escape(textOf(valueOf(scope, part)), part);
      each(text);
      return text;
    })
    .join('');
}

export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
