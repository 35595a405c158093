/**
 * A value of an expression. What comes from outside is JSON as it is, so its numbers are of type number (CEL: double);
 * whole numbers that are written in an expression are of type bigint (CEL: int). The two mix.
 */
export type Value =
  null | boolean | number | bigint | string | Date | Duration | readonly Value[] | Members;

export interface Members {
  readonly [key: string]: Value;
}

export class Duration {
  constructor(readonly milliseconds: number) {}
}

/** Something is no fit operand. Whoever knows where it stands makes an ExpressionError of it. */
export class Mismatch extends Error {}

export function isMembers(value: Value): value is Members {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Date) &&
    !(value instanceof Duration)
  );
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Sees only what is in the value itself, never its prototype. A member that is undefined is none. */
export function memberOf(members: Members, key: string): Value | undefined {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}

/** As messages name it. */
export function kindOf(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'boolean') return 'true or false';
  if (typeof value !== 'object') return 'a number';
  if (isList(value)) return 'a list';
  if (value instanceof Date) return 'a time';
  return value instanceof Duration ? 'a duration' : 'an object';
}

export function asText(value: Value | undefined): string {
  if (typeof value === 'string') return value;
  throw needs('a text', value);
}

export function asTruth(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  throw needs('true or false', value);
}

/** Where a position or a length is wanted. */
export function asIndex(value: Value | undefined): number {
  const index = typeof value === 'bigint' ? Number(value) : value;
  if (typeof index === 'number' && Number.isInteger(index)) return index;
  throw needs('a whole number', value);
}

export function needs(wanted: string, value: Value | undefined): Mismatch {
  const found = value === undefined ? 'nothing' : kindOf(value);
  return new Mismatch(`This takes ${wanted}, and here is ${found}.`);
}
