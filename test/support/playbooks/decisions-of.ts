import type { IncidentFields } from '../../../src/incidents/incident-fields.js';
import type { Classification, Incident } from '../../../src/incidents/incident.js';
import { decideStep, type Decision } from '../../../src/playbooks/language/decide-step.js';
import type {
  StepOutcome,
  WrittenStep,
} from '../../../src/playbooks/language/playbook-definition.js';
import {
  type Outcomes,
  type RunInput,
  valuesOf,
  withOutcomes,
} from '../../../src/playbooks/language/step-context.js';
import type { ShippedPlaybook } from '../../../src/playbooks/playbook.js';

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

/** What expressions read. */
export interface Context extends RunInput {
  readonly steps: Outcomes;
}

/** What the only step of a playbook is to do. */
export function decided(step: WrittenStep, { steps, ...input }: Context): Decision {
  return decideStep([step], 0, withOutcomes(valuesOf(input), steps));
}

/** A triaged incident, as a service has it. */
export function incidentWith(change: Partial<Incident> = {}): Incident {
  return {
    id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
    incident_number: 'INC-2026-0042',
    incident_type: 'phishing',
    severity: 'high',
    status: 'triaged',
    source: 'email-gateway',
    title: 'Phishing: "Urgent wire transfer"',
    created_at: new Date('2026-01-31T09:30:00.000Z'),
    updated_at: new Date('2026-01-31T09:31:00.000Z'),
    triaged_at: new Date('2026-01-31T09:31:00.000Z'),
    raw_data: '{}',
    fields: {},
    verdict: {
      classification: 'malicious',
      confidence: 0.97,
      decided_by: 'system',
      model: 'rules',
    },
    verdict_by_person: false,
    recommended_actions: ['quarantine_email', 'block_sender'],
    resolution: null,
    source_status: null,
    resolved_at: null,
    resolved_by: null,
    version: 1,
    ...change,
  };
}
