/*
 * How much a playbook may be. What these numbers cost is measured: docs/adr/0030-the-language-of-playbooks.md has the figures.
 */
export const MOST_STEPS = 50;
/** Of variables and steps together as JSON, in characters. What else a playbook says is bounded field by field. */
export const LONGEST_DEFINITION = 65_536;
export const LONGEST_TEMPLATE = 8_192;
/** Of one template. */
export const MOST_EXPRESSIONS = 50;
export const LONGEST_EXPRESSION = 2_000;
export const MOST_NODES = 500;
export const DEEPEST_NODE = 60;
/** `all`, `exists`, `map` and so on, one within another. */
export const MOST_NESTED_LOOPS = 2;

/**
 * Lists and objects that an expression builds, one within another. The library remembers each type that it meets for as long
 * as the service runs: so few levels make some hundred types.
 */
export const MOST_LEVELS_BUILT = 4;

/** Of any list that an expression goes through or makes. */
export const MOST_ITEMS = 1_000;
/** Of any text that an expression makes, in UTF-16 units. */
export const LONGEST_MADE_TEXT = 1_048_576;
/** What the condition and the templates of one step may cost together. */
export const LARGEST_COST = 100_000;
/** What all steps may: of more than twenty steps each has an equal share of it. */
export const LARGEST_COST_OF_ALL = 2_000_000;
