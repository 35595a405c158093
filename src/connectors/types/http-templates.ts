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

const REFERENCE = /(?<!\{)\{\{\s*(parameters|secrets|action)\.([A-Za-z_]\w*)\s*\}\}/;

/** Values are never parsed as templates. */
function parseTemplate(text: string): (string | Reference)[] {
  const parts = text.split(REFERENCE);
  return parts.flatMap((part, at): (string | Reference)[] => {
    if (at % 3 === 1) return [{ root: part as Root, name: parts[at + 1]! }];
    return at % 3 === 0 && part !== '' ? [part] : [];
  });
}

const isReference = (part: string | Reference): part is Reference => typeof part !== 'string';

/** Returns the end of a sentence about an invalid template. */
export function templateFault(
  text: string,
  known: Readonly<Record<Root, readonly string[]>>,
): string | undefined {
  for (const part of parseTemplate(text)) {
    if (!isReference(part)) {
      const at = part.indexOf('{{');
      if (at < 0) continue;
      const expected = 'parameters.<name>, secrets.<name> or action.id';
      return `has ${shownName(part.slice(at))} instead of ${expected}`;
    }
    const { root, name } = part;
    if (known[root].includes(name)) continue;
    const names = known[root].join(', ') || 'none';
    return `names ${root}.${name}, but the known names in ${root} are: ${names}`;
  }
  return undefined;
}

/** Escapes a value for its position. Throws RefusedError if the value does not fit. */
type Escape = (value: string, reference: Reference) => string;

function filled(text: string, scope: Scope, escape: Escape): string {
  const parts = parseTemplate(text).map((part) => {
    if (!isReference(part)) return part;
    const value = ownOf(scope[part.root], part.name) ?? '';
    return escape(typeof value === 'string' ? value : JSON.stringify(value), part);
  });
  return parts.join('');
}

/** A value becomes a path segment or part of a segment. It can neither start another segment nor be `..`. */
export function filledPath(text: string, scope: Scope): string {
  const [path = ''] = text.split('?', 1);
  const segments = path.split('/').map((segment) => {
    const made = filled(segment, scope, (value, reference) => {
      if (value === '') throw unfit(reference, 'is required in the path.');
      return encoded(value, reference);
    });
    if (isDotSegment(made)) throw new RefusedError(`${segment} is not a valid path segment.`);
    return made;
  });
  return segments.join('/') + filledForm(text.slice(path.length), scope);
}

/** Next to other text, a value must not contain separators of header values, because no common escape exists. */
export function filledHeader(text: string, scope: Scope): string {
  const isWhole = parseTemplate(text).length === 1;
  return filled(text, scope, (value, reference) => {
    if (!isHeaderText(value)) throw unfit(reference, 'has characters that a header cannot carry.');
    if (!isWhole && reference.root === 'parameters' && /[;,"\\]/.test(value)) {
      throw unfit(reference, 'contains ; , " or \\, which have a meaning in a header.');
    }
    return value;
  });
}

export const filledForm = (text: string, scope: Scope): string => filled(text, scope, encoded);

/** A string that consists of one reference becomes the value itself. Without a value, it is omitted with its key. */
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
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([key, item]) => [key, filledJson(item, scope)]));
}

const unfit = ({ root, name }: Reference, problem: string) =>
  new RefusedError(`${root}.${name} ${problem}`);

const encoded: Escape = (value, reference) => {
  const text = escapedForUrl(value);
  if (text === undefined) throw unfit(reference, 'is not valid text.');
  return text;
};

export const isHeaderText = (text: string): boolean => /^[\t\x20-\x7e]*$/.test(text);
