import { shownName } from '../../platform/text.js';
import { ownOf } from '../../targets/target-config.js';
import { RefusedError } from '../calls/vendor-answers.js';
import { escapedForUrl, isDotSegment } from '../calls/vendor-api.js';

type Root = 'parameters' | 'secrets' | 'action';
type Scope = Readonly<Record<Root, Readonly<Record<string, unknown>>>>;

const REFERENCE = String.raw`(?<!\{)\{\{\s*(parameters|secrets|action)\.([A-Za-z_]\w*)\s*\}\}`;
const REFERENCES = new RegExp(REFERENCE, 'g');
const ONLY_REFERENCE = new RegExp(`^${REFERENCE}$`);

export function templateFault(
  text: string,
  known: Readonly<Record<Root, readonly string[]>>,
): string | undefined {
  const rest = text.replace(REFERENCES, ' ');
  const at = rest.indexOf('{{');
  if (at >= 0) {
    const expected = 'parameters.<name>, secrets.<name> or action.id';
    return `has ${shownName(rest.slice(at))} instead of ${expected}`;
  }
  for (const [, root, name] of text.matchAll(REFERENCES) as Iterable<[string, Root, string]>) {
    if (known[root].includes(name)) continue;
    const names = known[root].join(', ') || 'none';
    return `names ${root}.${name}, but the known names in ${root} are: ${names}`;
  }
  return undefined;
}

/** Escapes a value for its position in the template. Throws RefusedError if the value does not fit there. */
type Escape = (value: string, name: string) => string;

/** References in inserted values are not replaced. */
const filled = (text: string, scope: Scope, escape: Escape): string =>
  text.replace(REFERENCES, (_, root: Root, name: string) => {
    const value = ownOf(scope[root], name) ?? '';
    return escape(typeof value === 'string' ? value : JSON.stringify(value), `${root}.${name}`);
  });

/** A value becomes a path segment or part of a segment. It cannot start another segment or be `..`. */
export function filledPath(text: string, scope: Scope): string {
  const [path = ''] = text.split('?', 1);
  const segments = path.split('/').map((segment) => {
    const made = filled(segment, scope, (value, name) => {
      if (value === '') throw new RefusedError(`${name} is required in the path.`);
      return encoded(value, name);
    });
    if (isDotSegment(made)) throw new RefusedError(`${segment} is not a valid path segment.`);
    return made;
  });
  return segments.join('/') + filledForm(text.slice(path.length), scope);
}

/** A value next to other text must not contain separators of header values, because no common escape exists. */
export function filledHeader(text: string, scope: Scope): string {
  const isWhole = ONLY_REFERENCE.test(text);
  return filled(text, scope, (value, name) => {
    const problem = !isHeaderText(value)
      ? 'has characters that a header cannot carry.'
      : !isWhole && name.startsWith('parameters.') && /[;,"\\]/.test(value)
        ? 'contains ; , " or \\, which have a meaning in a header.'
        : undefined;
    if (problem) throw new RefusedError(`${name} ${problem}`);
    return value;
  });
}

export const filledForm = (text: string, scope: Scope): string => filled(text, scope, encoded);

/** A string of one reference becomes its value. If the reference has no value, the string is omitted with its key. */
export function filledJson(value: unknown, scope: Scope): unknown {
  if (typeof value === 'string') {
    const [, root, name] = ONLY_REFERENCE.exec(value) ?? [];
    return root === undefined
      ? filled(value, scope, (text) => text)
      : ownOf(scope[root as Root], name!);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((item) => filledJson(item, scope)).filter((item) => item !== undefined);
  }
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([key, item]) => [key, filledJson(item, scope)]));
}

const encoded: Escape = (value, name) => {
  const text = escapedForUrl(value);
  if (text === undefined) throw new RefusedError(`${name} is not valid text.`);
  return text;
};

export const isHeaderText = (text: string): boolean => /^[\t\x20-\x7e]*$/.test(text);
