import { UnreachableError } from '../../platform/net/net.errors.js';
import { escapedForUrl, isDotSegment } from '../calls/vendor-api.js';

/**
 * Text with references such as `{{ parameters.ip }}`. References are replaced once; values are never parsed as
 * templates.
 */
export type Template = readonly (string | Reference)[];

export const ROOTS = ['parameters', 'secrets', 'action'] as const;
export type Root = (typeof ROOTS)[number];

export interface Reference {
  readonly root: Root;
  readonly name: string;
  /** The reference as written, for error messages. */
  readonly expression: string;
  /** Position of its first character, from 1. */
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
    if (close < 0) throw new TemplateError(open + 1, 'has a {{ without }}');
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
    throw new TemplateError(position, `has ${shown(expression)} instead of ${expected}`);
  }
  if (root === 'action' && name !== 'id') {
    const problem = `has ${shown(expression)}, but only action.id exists,`;
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

/** Values of references. */
export type Scope = Readonly<Record<Root, Readonly<Record<string, unknown>>>>;

/** Value of a reference; `undefined` if it does not exist. */
export function valueOf(scope: Scope, { root, name }: Reference): unknown {
  const values = scope[root];
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

/**
 * Replaces all references.
 *
 * @param escape makes a value safe for its place
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

/** A value does not fit into the template. Nothing was sent. */
export class RenderError extends UnreachableError {
  constructor(problem: string) {
    super(problem, { temporary: false });
  }
}

const HEADER_SYNTAX = /[;,"\\]/;

/** Limit for path, headers and body together. */
export const MOST_RENDERED_BYTES = 1_048_576;

/**
 * Fills the templates of one request: path, headers and body. A short template may repeat a long value many times, so
 * the bytes are counted before the parts are joined.
 */
export class TemplateRenderer {
  private bytes = 0;

  constructor(private readonly scope: Scope) {}

  /** A value becomes a path segment, or part of one. It can neither start another segment nor be `..`. */
  path(text: string): string {
    const query = text.indexOf('?');
    const path = query < 0 ? text : text.slice(0, query);
    const rendered = path
      .split('/')
      .map((segment) => this.segment(segment))
      .join('/');
    return query < 0 ? rendered : rendered + this.form(text.slice(query));
  }

  /**
   * Next to other text, a value must not contain separators of header values, because there is no common escape for
   * them.
   */
  header(text: string): string {
    const isWhole = parseTemplate(text).length === 1;
    return this.filled(text, (value, reference) => {
      if (!isHeaderText(value)) {
        throw unfit(reference, 'has characters that a header cannot carry.');
      }
      if (!isWhole && reference.root === 'parameters' && HEADER_SYNTAX.test(value)) {
        throw unfit(reference, 'contains ; , " or \\, which have a meaning in a header.');
      }
      return value;
    });
  }

  form(text: string): string {
    return this.filled(text, encoded);
  }

  /**
   * Builds JSON from values, so that no value can end its string. A string that consists of one reference becomes the
   * value itself, or is omitted with its key if there is no value.
   */
  json(value: unknown): string {
    return JSON.stringify(this.built(value));
  }

  private segment(segment: string): string {
    const text = this.filled(segment, (value, reference) => {
      if (value === '') throw unfit(reference, 'is required in the path.');
      return encoded(value, reference);
    });
    const reference = parseTemplate(segment).find((part) => typeof part !== 'string');
    if (reference && isDotSegment(text)) throw unfit(reference, 'is not a valid path segment.');
    return text;
  }

  private built(value: unknown): unknown {
    if (typeof value === 'string') return this.builtText(value);
    if (Array.isArray(value)) {
      return value.map((item) => this.built(item)).filter((item) => item !== undefined);
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.built(item)]));
  }

  private builtText(text: string): unknown {
    const [first, ...more] = parseTemplate(text);
    if (typeof first !== 'object' || more.length > 0) {
      return this.filled(text, (value) => value, writtenSize);
    }
    const value = valueOf(this.scope, first);
    if (value !== undefined) this.count(writtenSize(value));
    return value;
  }

  private filled(
    text: string,
    escape: (value: string, reference: Reference) => string,
    sizeOf: (part: string) => number = (part) => Buffer.byteLength(part),
  ): string {
    return fill(parseTemplate(text), this.scope, escape, (part) => this.count(sizeOf(part)));
  }

  private count(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes <= MOST_RENDERED_BYTES) return;
    throw new RenderError(
      `The request exceeds ${MOST_RENDERED_BYTES} bytes with the values of its templates.`,
    );
  }
}

function unfit({ root, name }: Reference, problem: string): RenderError {
  return new RenderError(`${root}.${name} ${problem}`);
}

/** Escapes a value for a path segment, a query or a form. */
function encoded(value: string, reference: Reference): string {
  const text = escapedForUrl(value);
  if (text === undefined) throw unfit(reference, 'is not valid text.');
  return text;
}

/** Size as JSON, in which some characters are longer. */
function writtenSize(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}
