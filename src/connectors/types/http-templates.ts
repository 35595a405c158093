import { escapedForUrl, isDotSegment } from '../calls/vendor-api.js';
import { ownOf } from '../../targets/target-config.js';
import { RefusedError } from '../calls/vendor-answers.js';

interface Reference {
  readonly root: 'parameters' | 'secrets' | 'action';
  readonly name: string;
  /** The reference as written, for error messages. */
  readonly expression: string;
  /** Position of its first character, from 1. */
  readonly position: number;
}

export class TemplateError extends Error {}

const OPEN = '{{';
const CLOSE = '}}';
const LONGEST_SHOWN = 100;
const EXPRESSION = /^\s*(?:(parameters|secrets)\.([A-Za-z_][A-Za-z0-9_]*)|(action)\.(id))\s*$/;

/**
 * Parses text with references such as `{{ parameters.ip }}`. References are replaced once; values are never parsed as
 * templates.
 */
function parseTemplate(text: string): (string | Reference)[] {
  let position = 1;
  const parts = text.split(/(\{\{.*?\}\})/s).map((part, at) => {
    const [start, open] = [position, part.indexOf(OPEN)];
    position += part.length;
    if (at % 2 === 1) return parseReference(part, start);
    if (open < 0) return part;
    throw new TemplateError(`has a {{ without }} at character ${start + open}`);
  });
  return parts.filter((part) => part !== '');
}

function parseReference(written: string, position: number): Reference {
  const found = EXPRESSION.exec(written.slice(OPEN.length, -CLOSE.length)) ?? [];
  const [root, name] = found.slice(1).filter((part) => part !== undefined);
  const isLong = written.length > LONGEST_SHOWN;
  const expression = isLong ? `${written.slice(0, LONGEST_SHOWN)}…` : written;
  if (root !== undefined && name !== undefined) {
    return { root: root as Reference['root'], name, expression, position };
  }
  const problem = `has ${expression} instead of parameters.<name>, secrets.<name> or action.id`;
  throw new TemplateError(`${problem} at character ${position}`);
}

export function referencesIn(text: string): Reference[] {
  return parseTemplate(text).filter((part) => typeof part !== 'string');
}

/** Values of references. */
export type Scope = Readonly<Record<Reference['root'], Readonly<Record<string, unknown>>>>;

const HEADER_SYNTAX = /[;,"\\]/;

/** Limit for path, headers and body together. */
export const MOST_RENDERED_BYTES = 1_048_576;

/**
 * Fills the templates of one request: path, headers and body. A short template may repeat a long value many times, so
 * the bytes are counted before the parts are joined. Throws RefusedError if the values do not fit.
 */
export class TemplateRenderer {
  private bytes = 0;

  constructor(private readonly scope: Scope) {}

  /** A value becomes a path segment, or part of one. It can neither start another segment nor be `..`. */
  path(text: string): string {
    const [path = ''] = text.split('?', 1);
    const segments = path.split('/').map((segment) => this.segment(segment));
    return segments.join('/') + this.form(text.slice(path.length));
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
    const [reference] = referencesIn(segment);
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
      return this.filled(text, (value) => value, JSON.stringify);
    }
    const value = this.valueOf(first);
    if (value !== undefined) this.count(JSON.stringify(value));
    return value;
  }

  /**
   * @param escape makes a value safe for its place
   * @param written returns a part as it is sent
   */
  private filled(
    text: string,
    escape: (value: string, reference: Reference) => string,
    written: (part: string) => string = (part) => part,
  ): string {
    const parts = parseTemplate(text).map((part) => {
      const filled = typeof part === 'string' ? part : escape(textOf(this.valueOf(part)), part);
      this.count(written(filled));
      return filled;
    });
    return parts.join('');
  }

  private valueOf({ root, name }: Reference): unknown {
    return ownOf(this.scope[root], name);
  }

  private count(text: string): void {
    this.bytes += Buffer.byteLength(text);
    if (this.bytes <= MOST_RENDERED_BYTES) return;
    throw new RefusedError(
      `The request exceeds ${MOST_RENDERED_BYTES} bytes with the values of its templates.`,
    );
  }
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function unfit({ root, name }: Reference, problem: string): RefusedError {
  return new RefusedError(`${root}.${name} ${problem}`);
}

/** Escapes a value for a path segment, a query or a form. */
function encoded(value: string, reference: Reference): string {
  const text = escapedForUrl(value);
  if (text === undefined) throw unfit(reference, 'is not valid text.');
  return text;
}

export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}
