/** A UUID is not a valid name, so that an id is never ambiguous. */
export const PLAYBOOK_NAME =
  /^(?![0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$)[a-z0-9][a-z0-9-]{0,62}$/;

export const ON_ERROR = ['stop', 'continue'] as const;

export const NAME = /^[a-z][a-z0-9_]{0,62}$/;

const RESERVED = new Set(['true', 'false', 'null', 'in']);

export const NAME_IN_WORDS =
  'must have 1 to 63 small letters, digits and underscores, and begin with a letter; true, false, null and in are reserved';

export function isName(name: string): boolean {
  return NAME.test(name) && !RESERVED.has(name);
}

// docs/adr/0030-the-language-of-playbooks.md has the measured costs.
export const MOST_STEPS = 50;
/** Maximum characters of variables and steps together, as JSON. Other fields have their own limits. */
export const LONGEST_DEFINITION = 65_536;
export const LONGEST_EXPRESSION = 2_000;
