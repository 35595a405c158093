import { escapedForUrl, isDotSegment } from '../calls/vendor-api.js';
import { ownOf } from '../../targets/target-config.js';
import { shownName } from '../../platform/text.js';
import { RefusedError } from '../calls/vendor-answers.js';

type Root = 'parameters' | 'secrets' | 'action';

interface Reference {
  readonly root: Root;
  readonly name: string;
}

/** Values of references. */
export type Scope = Readonly<Record<Root, Readonly<Record<string, unknown>>>>;

class TemplateError extends Error {}

const EXPRESSION = /^\{\{\s*(parameters|secrets|action)\.([A-Za-z_]\w*)\s*\}\}$/;

/**
 * Parses text with references such as `{{ parameters.ip }}`. References are replaced once; values are never parsed as
 * templates.
 */
function parseTemplate(text: string): (string | Reference)[] {
  const parts = text.split(/(\{\{.*?\}\})/s).map((part, at) => {
    if (at % 2 === 0) {
      if (part.includes('{{')) throw new TemplateError('has a {{ without }}');
      return part;
    }
    const [, root, name] = EXPRESSION.exec(part) ?? [];
    if (root !== undefined && name !== undefined) return { root: root as Root, name };
    const shown = shownName(part);
    throw new TemplateError(
      `has ${shown} instead of parameters.<name>, secrets.<name> or action.id`,
    );
  });
  return parts.filter((part) => part !== '');
}

export function referencesIn(text: string): Reference[] {
  return parseTemplate(text).filter((part) => typeof part !== 'string');
}

/** Returns the end of a sentence about an invalid template. @param known names that it may refer to */
export function templateFault(
  text: string,
  known: Readonly<Record<Root, readonly string[]>>,
): string | undefined {
  try {
    const wrong = referencesIn(text).find(({ root, name }) => !known[root].includes(name));
    if (!wrong) return undefined;
    const names = known[wrong.root].join(', ') || 'none';
    return `names ${wrong.root}.${wrong.name}, but the known names in ${wrong.root} are: ${names}`;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

const HEADER_SYNTAX = /[;,"\\]/;

/** Fills the templates of one request: path, headers and body. Throws RefusedError if the values do not fit. */
export class TemplateRenderer {
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
    if (typeof value === 'string') {
      const [only, ...more] = parseTemplate(value);
      if (typeof only !== 'object' || more.length > 0) return this.filled(value, (text) => text);
      return this.valueOf(only);
    }
    if (Array.isArray(value)) {
      return value.map((item) => this.built(item)).filter((item) => item !== undefined);
    }
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.built(item)]));
  }

  /** @param escape makes a value safe for its place */
  private filled(text: string, escape: (value: string, reference: Reference) => string): string {
    const parts = parseTemplate(text).map((part) =>
      typeof part === 'string' ? part : escape(textOf(this.valueOf(part)), part),
    );
    return parts.join('');
  }

  private valueOf({ root, name }: Reference): unknown {
    return ownOf(this.scope[root], name);
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
