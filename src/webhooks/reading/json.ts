/** JSON as event-json.ts reads it. A number that JavaScript cannot hold is kept as its digits. */
export type Json = string | number | boolean | null | ExactNumber | JsonObject | readonly Json[];
export interface JsonObject {
  readonly [key: string]: Json;
}

/** What JSON.rawJSON makes: JSON.stringify writes it as the digits that came. */
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

/** Array.isArray does not tell TypeScript about lists that cannot be changed. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** A list of events may have gaps. */
export function saysSomething(member: Json): boolean {
  return typeof member !== 'object' || (member !== null && Object.keys(member).length > 0);
}

/** The member of that name; undefined when the value is no object or has none. */
export function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The member at the end of a path of names. */
export function memberAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce(member, value);
}

/** A text that is not blank, or a number as its digits; undefined for everything else. */
export function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value.trim();
  if (typeof value === 'number') return String(value);
  return isExactNumber(value) ? value.rawJSON : undefined;
}

/** A number; a text that is written as one counts, too. */
export function numberOf(value: Json | undefined): number | undefined {
  const text = textOf(value);
  return text !== undefined && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

declare global {
  interface JSON {
    /** Node has it; the types of TypeScript do not yet. JSON.stringify writes the result as the text that was given. */
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}
