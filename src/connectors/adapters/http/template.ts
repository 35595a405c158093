/** A text with `{{ root.name }}` in it: values are put in, nothing is computed, and what is put in is not read again. */
export type Template = readonly (string | Reference)[];

export const ROOTS = ['parameters', 'secrets', 'action'] as const;
export type Root = (typeof ROOTS)[number];

export interface Reference {
  readonly root: Root;
  readonly name: string;
  /** Where it begins, counted from 1. */
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
    parts.push(parseReference(text.slice(open + OPEN.length, close), open + 1));
    at = close + CLOSE.length;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

function parseReference(inner: string, position: number): Reference {
  const [, root, name] = EXPRESSION.exec(inner) ?? [];
  if (root === undefined || name === undefined) {
    const expected = 'parameters.<name>, secrets.<name> or action.id';
    throw new TemplateError(position, `has something else than ${expected}`);
  }
  if (root === 'action' && name !== 'id') {
    throw new TemplateError(position, `has action.${name}, of which there is only action.id`);
  }
  return { root: root as Root, name, position };
}

export function referencesIn(template: Template): Reference[] {
  return template.filter((part) => typeof part !== 'string');
}

/** What a reference stands for; undefined when there is no such value. */
export type Scope = Readonly<Record<Root, Readonly<Record<string, unknown>>>>;

export function valueOf(scope: Scope, { root, name }: Reference): unknown {
  const values = scope[root];
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/** The text with every value in it, each escaped for where it lands. */
export function fill(
  template: Template,
  scope: Scope,
  escape: (text: string, reference: Reference) => string,
): string {
  return template
    .map((part) => (typeof part === 'string' ? part : escape(textOf(valueOf(scope, part)), part)))
    .join('');
}

export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
