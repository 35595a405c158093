import { UnreachableError } from '../../../common/net/net.errors.js';
import { isHeaderText } from './http-config.js';
import { fill, parseTemplate, type Reference, type Scope, valueOf } from './template.js';

/** What was asked for cannot be put where the template has it. Nothing is sent. */
export class CannotRender extends UnreachableError {
  constructor(reference: Reference, problem: string) {
    super(`${reference.root}.${reference.name} ${problem}`, { passing: false });
  }
}

/** Dots that lead elsewhere: nobody encodes them, and some servers decode the slashes beside them before they look. */
const CLIMBING = /(^|%2f|%5c)(\.|%2e){1,2}(%2f|%5c|$)/i;

/** A value is one segment, or a part of one: it can neither begin another nor climb. */
export function renderPath(text: string, scope: Scope): string {
  const query = text.indexOf('?');
  const path = query < 0 ? text : text.slice(0, query);
  const rendered = path
    .split('/')
    .map((segment) => renderSegment(segment, scope))
    .join('/');
  if (query < 0) return rendered;
  return rendered + fill(parseTemplate(text.slice(query)), scope, encoded);
}

function renderSegment(segment: string, scope: Scope): string {
  const template = parseTemplate(segment);
  const text = fill(template, scope, (value, reference) => {
    if (value === '') throw new CannotRender(reference, 'is needed in the path, and missing.');
    return encoded(value, reference);
  });
  const reference = template.find((part) => typeof part !== 'string');
  if (reference && CLIMBING.test(text)) throw new CannotRender(reference, 'is no path segment.');
  return text;
}

/** For a path segment, a query and a form alike. */
function encoded(value: string, reference: Reference): string {
  if (/\p{Surrogate}/u.test(value)) throw new CannotRender(reference, 'is no proper text.');
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export function renderHeader(text: string, scope: Scope): string {
  return fill(parseTemplate(text), scope, (value, reference) => {
    if (!isHeaderText(value)) {
      throw new CannotRender(reference, 'has characters that a header cannot carry.');
    }
    return value;
  });
}

export function renderForm(text: string, scope: Scope): string {
  return fill(parseTemplate(text), scope, encoded);
}

/**
 * JSON is built as values and only then written, so that nothing in a value can end its string. A string that is one
 * reference and nothing else becomes the value itself, and is left out with its key where there is none.
 */
export function renderJson(value: unknown, scope: Scope): string {
  return JSON.stringify(built(value, scope));
}

function built(value: unknown, scope: Scope): unknown {
  if (typeof value === 'string') return builtText(value, scope);
  if (Array.isArray(value)) {
    return value.map((item) => built(item, scope)).filter((item) => item !== undefined);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, built(item, scope)]));
}

function builtText(text: string, scope: Scope): unknown {
  const template = parseTemplate(text);
  const [first] = template;
  if (template.length === 1 && typeof first === 'object') return valueOf(scope, first);
  return fill(template, scope, (value) => value);
}
