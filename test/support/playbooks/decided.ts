import { type Decision, decideStep } from '../../../src/playbooks/language/decide-step.js';
import type { WrittenStep } from '../../../src/playbooks/language/playbook-definition.js';
import {
  type Outcomes,
  type RunInput,
  valuesOf,
  withOutcomes,
} from '../../../src/playbooks/language/step-context.js';

/** What expressions read. */
export interface Context extends RunInput {
  readonly steps: Outcomes;
}

/** What the only step of a playbook is to do. */
export function decided(step: WrittenStep, { steps, ...input }: Context): Decision {
  return decideStep([step], 0, withOutcomes(valuesOf(input), steps));
}
