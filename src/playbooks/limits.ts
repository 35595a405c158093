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
export const LONGEST_TEMPLATE = 8_192;
export const MOST_EXPRESSIONS = 50;
export const LONGEST_EXPRESSION = 2_000;
export const MOST_NODES = 500;
export const DEEPEST_NODE = 60;
export const MOST_NESTED_LOOPS = 2;

/** The library never forgets a type, and these levels of lists and objects allow some hundred types. */
export const MOST_LEVELS_BUILT = 4;

/** Maximum items of a list that an expression visits or builds. */
export const MOST_ITEMS = 1_000;
/** Maximum UTF-16 units of a text that an expression builds. */
export const LONGEST_MADE_TEXT = 1_048_576;
export const LARGEST_COST = 100_000;
/** Maximum cost of all steps. With more than 20 steps, each step has an equal share. */
export const LARGEST_COST_OF_ALL = 2_000_000;
