/** Of variables and steps: what can stand after a dot in an expression. */
export const NAME = /^[a-z][a-z0-9_]{0,62}$/;

/** The words of CEL, which cannot. */
const RESERVED = new Set(['true', 'false', 'null', 'in']);

export const NAME_IN_WORDS =
  'of 1 to 63 small letters, digits and underscores, begins with a letter, and is none of true, false, null and in';

export function isName(name: string): boolean {
  return NAME.test(name) && !RESERVED.has(name);
}
