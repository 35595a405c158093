import type { OpenAPIObject, SchemaObject } from '@nestjs/swagger';
import { EVENT_TYPES, type EventName, eventOf } from '../../src/notifications/notification.js';
import { firstIdAt } from '../../src/platform/ids.js';
import { pascal } from '../../src/platform/openapi/answers.js';
import { ID_EXAMPLE } from '../../src/platform/validation/fields.js';

const OTHER_ID = '0193f2b7-0a5d-7e31-8c40-5d1f6e2b9a70';
const OCCURRED_AT = new Date('2026-01-31T09:42:00.006Z');
const TITLE = 'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com';

/** Default payload of domain events. Each example shows only the fields that its event has. */
const PAYLOAD = {
  ...{ incident_type: 'phishing', severity: 'high', status: 'open', source: 'email-gateway' },
  ...{ title: TITLE, incident_title: TITLE, previous_severity: 'medium', changed: ['severity'] },
  ...{ updated_by: 'alice', changed_by: 'alice', triaged_by: 'alice', reopened_by: 'alice' },
  ...{ resolved_by: 'bob', deleted_by: 'admin', triage_id: '019c1370-1b16-7000-910b-3c1821923f0f' },
  resolution: 'The mail was deleted from all mailboxes.',
  verdict: {
    ...{ classification: 'malicious', confidence: 0.85, category: 'phishing' },
    decided_by: 'system',
  },
  recommended_actions: ['quarantine_email', 'block_sender', 'lookup_domain'],
  ...{ action_type: 'delete_email', target: '<4f2a1c@mail.example.net>', reason: 'Phishing.' },
  ...{ requested_by: 'alice', approval_level: 'senior' },
  ...{ playbook: 'phishing-response', playbook_version: 2, step: 'quarantine', automatic: true },
  ...{ by: 'alice', name: 'soc', type: 'webhook', error: 'The body fits no known format.' },
  ...{ failing_since: '2026-01-31T09:20:00.000Z', unhealthy_since: '2026-01-31T09:20:00.000Z' },
};

/** Fields whose values differ from PAYLOAD, by event. */
const DIFFERENT: Readonly<Partial<Record<EventName, object>>> = {
  'incident.triaged': { status: 'triaged' },
  'incident.resolved': { status: 'resolved' },
  'triage.failed': { reason: 'timeout', message: 'The model did not answer in time.' },
  'action.pending_approval': { expires_at: '2026-02-01T09:52:00.009Z' },
  'action.expiring': { expires_at: '2026-02-01T09:52:00.009Z' },
  'action.completed': {
    approved_by: 'carol',
    message: 'The mail is deleted from all mailboxes.',
  },
  'action.failed': { code: 'refused', message: 'The service answered with status 500.' },
  'action.rejected': {
    rejected_by: 'carol',
    message: 'It is evidence, and in quarantine already.',
  },
  'playbook.step_failed': {
    message: 'steps.4.parameters.recipient at character 4: There is no recipient here.',
  },
  'kill_switch.activated': { reason: 'The isolation playbook takes the wrong hosts.' },
  'kill_switch.deactivated': { reason: 'The playbook is corrected.' },
  'connector.unhealthy': {
    ...{ name: 'firewall', type: 'http', message: 'The connection failed (ECONNREFUSED).' },
  },
  'connector.recovered': { name: 'firewall', type: 'http', message: 'The vendor answered.' },
  'notification_channel.unhealthy': { message: 'The receiver answered with status 500.' },
  'notification.test': { message: 'This is a test of the channel soc.' },
};

/** Adds an example to the schema of each event that channels send. */
export function addEventExamples({ components }: OpenAPIObject): void {
  const ids: Readonly<Record<string, string>> = {
    incident: ID_EXAMPLE,
    action: `act-${OTHER_ID}`,
  };
  for (const name of Object.keys(EVENT_TYPES) as EventName[]) {
    const schema = components!.schemas![`${pascal(name)}Event`] as SchemaObject;
    schema.example = eventOf(name, {
      event_id: firstIdAt(OCCURRED_AT.getTime()).replace('-0000-0000-', '-7000-8000-'),
      occurred_at: OCCURRED_AT,
      subject_id: ids[name.split('.')[0]!] ?? OTHER_ID,
      payload: { ...PAYLOAD, ...DIFFERENT[name] },
      incident_id: ID_EXAMPLE,
      incident_number: 'INC-2026-0042',
      public_url: 'https://triage.example.com',
    });
  }
}
