import type { Incident } from '../../../src/incidents/incident.js';

/** A triaged incident, as a service has it. */
export function incidentWith(change: Partial<Incident> = {}): Incident {
  return {
    id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
    incidentNumber: 'INC-2026-0042',
    incidentType: 'phishing',
    severity: 'high',
    status: 'triaged',
    source: 'email-gateway',
    title: 'Phishing: "Urgent wire transfer"',
    createdAt: new Date('2026-01-31T09:30:00.000Z'),
    updatedAt: new Date('2026-01-31T09:31:00.000Z'),
    triagedAt: new Date('2026-01-31T09:31:00.000Z'),
    rawData: '{}',
    fields: {},
    verdict: {
      classification: 'malicious',
      confidence: 0.97,
      decided_by: 'system',
      model: 'rules',
    },
    verdictByPerson: false,
    recommendedActions: ['quarantine_email', 'block_sender'],
    version: 1,
    ...change,
  };
}
