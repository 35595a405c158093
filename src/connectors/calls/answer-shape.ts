import { OutcomeUnknownError } from '../../platform/net/net.errors.js';

/** An answer that is not of the shape that the vendor documents. After a request with an effect nobody knows what came of it. */
export class AnswerShapeError extends OutcomeUnknownError {
  constructor(message: string) {
    super(message, 'broken');
  }
}

/** The members of a JSON object. No class: an answer may have a member of any name, such as `__proto__`. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is at a path of an answer; undefined when nothing is. */
export function valueAt(json: unknown, ...path: readonly string[]): unknown {
  let value = json;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** No id, name or token of a vendor is longer. What an action keeps to ask by is made of them. */
const LONGEST_TEXT = 16_384;

/** A text with something in it. */
export function textAt(json: unknown, ...path: readonly string[]): string {
  const value = valueAt(json, ...path);
  if (typeof value === 'string' && value !== '' && value.length <= LONGEST_TEXT) return value;
  throw missing('text', path);
}

export function numberAt(json: unknown, ...path: readonly string[]): number {
  const value = valueAt(json, ...path);
  if (typeof value === 'number') return value;
  throw missing('number', path);
}

export function booleanAt(json: unknown, ...path: readonly string[]): boolean {
  const value = valueAt(json, ...path);
  if (typeof value === 'boolean') return value;
  throw missing('true or false', path);
}

export function listAt(json: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = valueAt(json, ...path);
  if (Array.isArray(value)) return value;
  throw missing('list', path);
}

/** For an answer that has to tell nothing. */
export function nothing(): void {}

/** Names only what was expected: what came instead may hold a secret. */
function missing(kind: string, path: readonly string[]): AnswerShapeError {
  return new AnswerShapeError(
    `The answer is not as documented: it has no ${kind} at ${path.join('.') || 'its root'}.`,
  );
}
