import type { ActionEventPayload } from '../../actions/records/action-recorder.js';
import type { IncidentEventPayload } from '../../incidents/change-records.js';
import type { IncidentStatus } from '../../incidents/incident.js';
import { firstIdAt } from '../../platform/ids.js';
import { STORY } from '../../platform/openapi/story.js';
import type { EventName } from '../notification.js';
import { eventPayload, type ToldEvent } from './event-payloads.js';

const PUBLIC_URL = 'https://triage.example.com';
const NUMBER = 'INC-2026-0042';
const TITLE = 'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com';

type Told = Pick<ToldEvent, 'subject' | 'payload' | 'incidentId' | 'incidentNumber'>;

const incident = (status: IncidentStatus, more: object = {}): Told => {
  const about: IncidentEventPayload = {
    incident_type: 'phishing',
    severity: 'high',
    status,
    source: 'email-gateway',
    title: TITLE,
  };
  const subject = { type: 'incident', id: STORY.mail };
  return { subject, payload: { ...about, ...more }, incidentNumber: NUMBER };
};

const action = (id: string, more: Omit<ActionEventPayload, 'requested_by'>): Told => ({
  subject: { type: 'action', id },
  payload: { requested_by: 'alice', incident_title: TITLE, severity: 'high', ...more },
  incidentId: STORY.mail,
  incidentNumber: NUMBER,
});
const DELETION = {
  action_type: 'delete_email',
  target: '<4f2a1c@mail.example.net>',
  reason: 'Phishing.',
  approval_level: 'senior',
} as const;

const killSwitch = (reason: string): Told => ({
  subject: { type: 'kill_switch', id: 'kill_switch' },
  payload: { by: 'alice', reason },
});
const connector = (more: object): Told => ({
  subject: { type: 'connector', id: STORY.firewall },
  payload: { name: 'firewall', type: 'http', ...more },
});
const channel = (more: object): Told => ({
  subject: { type: 'notification_channel', id: STORY.channel },
  payload: { name: 'soc', type: 'webhook', ...more },
});

/** When each happened, and the domain event of it. */
const TOLD: { readonly [Name in EventName]: readonly [at: string, told: Told] } = {
  'incident.created': ['2026-01-31T09:42:00.006Z', incident('open')],
  'incident.updated': [
    '2026-01-31T09:43:10.004Z',
    incident('open', { updated_by: 'alice', changed: ['severity'] }),
  ],
  'incident.severity_changed': [
    '2026-01-31T09:43:10.004Z',
    incident('open', { previous_severity: 'medium', changed_by: 'alice' }),
  ],
  'incident.triaged': [
    '2026-01-31T09:44:00.084Z',
    incident('triaged', {
      triaged_by: 'alice',
      verdict: {
        classification: 'malicious',
        confidence: 0.85,
        category: 'phishing',
        decided_by: 'system',
      },
      recommended_actions: ['quarantine_email', 'block_sender', 'lookup_domain'],
    }),
  ],
  'incident.resolved': [
    '2026-01-31T10:32:40.005Z',
    incident('resolved', {
      resolved_by: 'bob',
      resolution: 'The mail was deleted from all mailboxes.',
    }),
  ],
  'incident.reopened': ['2026-01-31T11:05:00.003Z', incident('open', { reopened_by: 'alice' })],
  'incident.deleted': ['2026-02-03T08:00:00.002Z', incident('resolved', { deleted_by: 'admin' })],
  'triage.failed': [
    '2026-01-31T09:44:00.084Z',
    incident('open', {
      triage_id: STORY.triageRun,
      reason: 'timeout',
      message: 'The model did not answer in time.',
    }),
  ],
  'action.pending_approval': [
    '2026-01-31T09:52:00.009Z',
    action(STORY.deleteMail, { ...DELETION, expires_at: '2026-02-01T09:52:00.009Z' }),
  ],
  'action.expiring': [
    '2026-01-31T21:52:10.002Z',
    action(STORY.deleteMail, { ...DELETION, expires_at: '2026-02-01T09:52:00.009Z' }),
  ],
  'action.completed': [
    '2026-01-31T09:59:20.007Z',
    action(STORY.deleteMail, {
      ...DELETION,
      approved_by: 'carol',
      message: 'The mail is deleted from all mailboxes.',
    }),
  ],
  'action.failed': [
    '2026-01-31T09:52:40.002Z',
    action(STORY.ticket, {
      action_type: 'create_ticket',
      target: 'Tell finance about the mail.',
      message: 'It answered with status 500.',
      code: 'refused',
    }),
  ],
  'action.rejected': [
    '2026-01-31T09:57:30.003Z',
    action(STORY.deleteMail, {
      ...DELETION,
      rejected_by: 'carol',
      message: 'It is evidence, and in quarantine already.',
    }),
  ],
  'playbook.step_failed': [
    '2026-01-31T09:52:40.002Z',
    {
      subject: { type: 'playbook_run', id: STORY.run },
      payload: {
        playbook: 'phishing-response',
        playbook_version: 2,
        step: 'quarantine',
        message: 'steps.4.parameters.recipient at character 4: There is no recipient here.',
        automatic: true,
        incident_title: TITLE,
        severity: 'high',
      },
      incidentId: STORY.mail,
      incidentNumber: NUMBER,
    },
  ],
  'kill_switch.activated': [
    '2026-01-31T10:29:20.006Z',
    killSwitch('The isolation playbook takes the wrong hosts.'),
  ],
  'kill_switch.deactivated': ['2026-01-31T10:31:00.004Z', killSwitch('The playbook is corrected.')],
  'connector.unhealthy': [
    '2026-01-31T09:30:00.000Z',
    connector({ message: 'The connection failed (ECONNREFUSED).' }),
  ],
  'connector.recovered': [
    '2026-01-31T09:40:00.000Z',
    connector({ unhealthy_since: '2026-01-31T09:30:00.000Z', message: 'The vendor answered.' }),
  ],
  'notification_channel.unhealthy': [
    '2026-01-31T09:30:00.000Z',
    channel({
      failing_since: '2026-01-31T09:20:00.000Z',
      message: 'It answered with status 500.',
    }),
  ],
  'notification_channel.recovered': [
    '2026-01-31T09:50:00.000Z',
    channel({ unhealthy_since: '2026-01-31T09:30:00.000Z' }),
  ],
  'notification.test': [
    '2026-01-31T09:10:00.000Z',
    { ...channel({}), payload: { message: 'This is a test of the channel soc.' } },
  ],
};

/** A whole event of this name, made as those that are delivered, so that it shows no more and no less than they have. */
export function eventExample(name: EventName): object {
  const [at, told] = TOLD[name];
  const occurredAt = new Date(at);
  const eventId = firstIdAt(occurredAt.getTime()).replace('-0000-0000-', '-7000-8000-');
  return eventPayload(name, { eventId, occurredAt, publicUrl: PUBLIC_URL, ...told });
}
