import { OutcomeUnknownError } from '../../platform/net/net.errors.js';

/** The answer differs from the documentation of the vendor. After a request with an effect the outcome is unknown. */
export class AnswerShapeError extends OutcomeUnknownError {
  constructor(message: string) {
    super(message, 'broken');
  }
}

/** Members of a JSON object. Not a class, because a member may be named `__proto__`. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Value at a path; `undefined` if there is none. */
export function valueAt(json: unknown, ...path: readonly string[]): unknown {
  let value = json;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** Ids, names and tokens of vendors are shorter. Actions store them in their handles. */
const LONGEST_TEXT = 16_384;

/** Non-empty text. */
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

/** Reads nothing, for answers without content. */
export function nothing(): void {}

/** Names only the expected type, because the actual value may be a secret. */
function missing(kind: string, path: readonly string[]): AnswerShapeError {
  return new AnswerShapeError(
    `The answer is not as documented: it has no ${kind} at ${path.join('.') || 'its root'}.`,
  );
}
