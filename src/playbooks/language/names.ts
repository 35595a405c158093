/** Of variables and steps: what can stand after a dot in an expression. */
export const NAME = /^[a-z][a-z0-9_]{0,62}$/;

/** The words of CEL, which cannot. */
const RESERVED = new Set(['true', 'false', 'null', 'in']);

export const NAME_IN_WORDS =
  'must have 1 to 63 small letters, digits and underscores, and begin with a letter; true, false, null and in are reserved';

export function isName(name: string): boolean {
  return NAME.test(name) && !RESERVED.has(name);
}
