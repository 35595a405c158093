import type { IncidentFields } from '../../../src/incidents/incident-fields.js';
import type { Classification } from '../../../src/incidents/incident.js';
import {
  decideStep,
  type Decision,
  type Outcomes,
  type RunInput,
  valuesOf,
  withOutcomes,
} from '../../../src/playbooks/language/decide-step.js';
import type { PlaybookStep, PlaybookVersion } from '../../../src/playbooks/playbook.js';
import { incidentWith } from './incident-with.js';

/** Returns the decisions of a run in which all actions succeed. */
export function decisionsOf(
  { definition }: Pick<PlaybookVersion, 'definition'>,
  fields: IncidentFields,
  classification?: Classification,
): Record<string, string> {
  const verdict = classification && { classification, decided_by: 'system' };
  const incident = incidentWith({ fields, verdict });
  const steps: Record<string, Outcomes[string]> = {};
  const decisions: Record<string, string> = {};
  const values = valuesOf({ incident, variables: definition.variables });
  for (const [position, { name }] of definition.steps.entries()) {
    const decided = decideStep(definition.steps, position, withOutcomes(values, steps));
    decisions[name] = decided.kind === 'error' ? `error: ${decided.message}` : decided.kind;
    const result = { success: true, message: 'Done.' };
    steps[name] = decided.kind === 'run' ? { result } : {};
  }
  return decisions;
}

/** Values that expressions can read. */
export interface Context extends RunInput {
  readonly steps: Outcomes;
}

/** Returns the decision on a step that is the only step of its playbook. */
export function decided(step: PlaybookStep, { steps, ...input }: Context): Decision {
  return decideStep([step], 0, withOutcomes(valuesOf(input), steps));
}
