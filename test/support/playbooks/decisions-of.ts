import type { Classification } from '../../../src/incidents/incident.js';
import type { IncidentFields } from '../../../src/incidents/incident-fields.js';
import { decideStep } from '../../../src/playbooks/language/decide-step.js';
import type { StepOutcome } from '../../../src/playbooks/language/playbook-definition.js';
import { valuesOf, withOutcomes } from '../../../src/playbooks/language/step-context.js';
import type { ShippedPlaybook } from '../../../src/playbooks/playbook.js';
import { incidentWith } from './incident-with.js';

/** The run of a playbook whose actions all do what they say. */
export function decisionsOf(
  { definition }: ShippedPlaybook,
  fields: IncidentFields,
  classification?: Classification,
): Record<string, string> {
  const verdict = classification && { classification, decided_by: 'system' };
  const incident = incidentWith({ fields, verdict });
  const steps: Record<string, StepOutcome> = {};
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
