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

/** Text that is not blank, or the digits of a number. */
export function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value.trim() || undefined;
  if (typeof value === 'number') return String(value);
  return isExactNumber(value) ? value.rawJSON : undefined;
}
