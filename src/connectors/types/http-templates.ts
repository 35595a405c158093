import { shownName } from '../../platform/text.js';
import { ownOf } from '../../targets/target-config.js';
import { RefusedError } from '../calls/vendor-answers.js';
import { escapedForUrl, isDotSegment } from '../calls/vendor-api.js';

type Root = 'parameters' | 'secrets' | 'action';
type Scope = Readonly<Record<Root, Readonly<Record<string, unknown>>>>;

interface Reference {
  readonly root: Root;
  readonly name: string;
}

class TemplateError extends Error {}

const EXPRESSION = /^\{\{\s*(parameters|secrets|action)\.([A-Za-z_]\w*)\s*\}\}$/;

function parseTemplate(text: string): (string | Reference)[] {
  const parts = text.split(/(\{\{.*?\}\})/s).map((part, at) => {
    if (at % 2 === 0) {
      if (part.includes('{{')) throw new TemplateError('has a {{ without }}');
      return part;
    }
    const [, root, name] = EXPRESSION.exec(part) ?? [];
    if (root !== undefined && name !== undefined) return { root: root as Root, name };
    const expected = 'parameters.<name>, secrets.<name> or action.id';
    throw new TemplateError(`has ${shownName(part)} instead of ${expected}`);
  });
  return parts.filter((part) => part !== '');
}

const isReference = (part: string | Reference): part is Reference => typeof part !== 'string';

export function templateFault(
  text: string,
  known: Readonly<Record<Root, readonly string[]>>,
): string | undefined {
  try {
    const references = parseTemplate(text).filter(isReference);
    const wrong = references.find(({ root, name }) => !known[root].includes(name));
    if (!wrong) return undefined;
    const names = known[wrong.root].join(', ') || 'none';
    return `names ${wrong.root}.${wrong.name}, but the known names in ${wrong.root} are: ${names}`;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

type Escape = (value: string, reference: Reference) => string;

function filled(text: string, scope: Scope, escape: Escape): string {
  const parts = parseTemplate(text).map((part) => {
    if (!isReference(part)) return part;
    const value = ownOf(scope[part.root], part.name) ?? '';
    return escape(typeof value === 'string' ? value : JSON.stringify(value), part);
  });
  return parts.join('');
}

/** Fills a path. A value becomes a path segment or part of a segment. It can neither start another segment nor be `..`. */
export function filledPath(text: string, scope: Scope): string {
  const [path = ''] = text.split('?', 1);
  const segments = path.split('/').map((segment) => {
    const made = filled(segment, scope, (value, reference) => {
      if (value === '') throw unfit(reference, 'is required in the path.');
      return encoded(value, reference);
    });
    const reference = parseTemplate(segment).find(isReference);
    if (reference && isDotSegment(made)) throw unfit(reference, 'is not a valid path segment.');
    return made;
  });
  return segments.join('/') + filledForm(text.slice(path.length), scope);
}

const HEADER_SYNTAX = /[;,"\\]/;

/** Fills a header. Next to other text, a value must not contain separators of header values, because no common escape exists. */
export function filledHeader(text: string, scope: Scope): string {
  const isWhole = parseTemplate(text).length === 1;
  return filled(text, scope, (value, reference) => {
    if (!isHeaderText(value)) throw unfit(reference, 'has characters that a header cannot carry.');
    if (!isWhole && reference.root === 'parameters' && HEADER_SYNTAX.test(value)) {
      throw unfit(reference, 'contains ; , " or \\, which have a meaning in a header.');
    }
    return value;
  });
}

export const filledForm = (text: string, scope: Scope): string => filled(text, scope, encoded);

/**
 * Fills JSON, so that no value can end its string. A string that consists of one reference becomes the value itself. Without a
 * value, the string is omitted with its key.
 */
export function filledJson(value: unknown, scope: Scope): unknown {
  if (typeof value === 'string') {
    const [only, ...more] = parseTemplate(value);
    return only !== undefined && isReference(only) && more.length === 0
      ? ownOf(scope[only.root], only.name)
      : filled(value, scope, (text) => text);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((item) => filledJson(item, scope)).filter((item) => item !== undefined);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, filledJson(item, scope)]),
  );
}

function unfit({ root, name }: Reference, problem: string): RefusedError {
  return new RefusedError(`${root}.${name} ${problem}`);
}

const encoded: Escape = (value, reference) => {
  const text = escapedForUrl(value);
  if (text === undefined) throw unfit(reference, 'is not valid text.');
  return text;
};

export const isHeaderText = (text: string): boolean => /^[\t\x20-\x7e]*$/.test(text);
