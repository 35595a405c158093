/** JSON as event-json.ts reads it. A number that JavaScript would change keeps its digits. */
export type Json = string | number | boolean | null | ExactNumber | JsonObject | readonly Json[];
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Result of JSON.rawJSON. JSON.stringify writes the digits. */
export interface ExactNumber {
  readonly rawJSON: string;
}

export function isExactNumber(value: Json | undefined): value is ExactNumber {
  return typeof value === 'object' && value !== null && JSON.isRawJSON(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)
  );
}

/** Array.isArray does not narrow to read-only lists. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Lists of events may have gaps: null and empty objects. */
export function saysSomething(member: Json): boolean {
  return typeof member !== 'object' || (member !== null && Object.keys(member).length > 0);
}

export function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Text that is not blank, or the digits of a number. */
export function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim();
  if (typeof value === 'number') return String(value);
  return isExactNumber(value) ? value.rawJSON : undefined;
}

/** A number, or the number that a text has. */
export function numberOf(value: Json | undefined): number | undefined {
  const text = textOf(value);
  return text !== undefined && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

declare global {
  interface JSON {
    /** Exists in Node, but not yet in the types of TypeScript. */
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}
