import { type Incident, INCIDENT_COLUMNS } from '../../../src/incidents/incident.js';

const NO_VALUES = Object.fromEntries(INCIDENT_COLUMNS.map((name) => [name, null])) as {
  [Name in keyof Incident]: never;
};

/** A triaged incident, as the service stores it. */
export function incidentWith(change: Partial<Incident> = {}): Incident {
  return {
    ...NO_VALUES,
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
    version: 1,
    ...change,
  };
}
