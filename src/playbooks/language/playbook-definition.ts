import type { ActionResult, RequiredLevel } from '../../actions/action.js';

/** What a playbook does: the part of its record that is written in the language of playbooks. */
export interface WrittenPlaybook {
  /** Names with the values that they have unless a run says otherwise. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly steps: readonly WrittenStep[];
}

export interface WrittenStep {
  /** Later steps find its result under this name. */
  readonly name: string;
  /** A type of the catalogue of actions. */
  readonly action: string;
  /** A text may be a template; any other value stands for itself. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** An expression; the step runs when it is true. */
  readonly condition?: string;
  readonly approval_level?: RequiredLevel;
  readonly on_error: 'stop' | 'continue';
}

/** What later steps may read of a step: the result of its action. A step that was skipped has none. */
export interface StepOutcome {
  readonly result?: ActionResult;
}

/** Of variables and steps: what can stand after a dot in an expression. */
export const NAME = /^[a-z][a-z0-9_]{0,62}$/;

/** The words of CEL, which cannot. */
const RESERVED = new Set(['true', 'false', 'null', 'in']);

export const NAME_IN_WORDS =
  'must have 1 to 63 small letters, digits and underscores, and begin with a letter; true, false, null and in are reserved';

export function isName(name: string): boolean {
  return NAME.test(name) && !RESERVED.has(name);
}

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
