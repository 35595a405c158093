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
