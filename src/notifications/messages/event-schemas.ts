import * as data from './event-data.js';
import type { ActionEventPayload } from '../../actions/action-records.js';
import type { IncidentEventPayload } from '../../incidents/change-records.js';
import type { IncidentStatus } from '../../incidents/incident.js';
import { firstIdAt } from '../../platform/ids.js';
import type { EventName } from '../notification.js';
import { eventPayload, type ToldEvent } from './event-payloads.js';
import { ApiExample } from '../../platform/openapi/answers.js';
import { Field, Id, Instant, Nested } from '../../platform/validation/fields.js';

const STORY = {
  mail: '019c136e-4646-7000-8bef-f694ee7f5fe3',
  firewall: '019c0f76-3100-7000-9d1c-2b8f0c5e7a41',
  channel: '019c0f7d-5d04-7000-9c3d-4e5f6a7b8c9d',
  triageRun: '019c1370-1b16-7000-910b-3c1821923f0f',
  deleteMail: 'act-019c1377-6e09-7000-89aa-4c43e1776291',
  ticket: 'act-019c1378-0a42-7000-b34a-30a25612ab38',
  run: '019c138d-6704-7000-a012-264bc847fa9a',
  failedEvent: '019c1367-8f81-7000-a324-e53e82bc1d1b',
};
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
  'webhook_event.failed': [
    '2026-01-31T09:34:40.001Z',
    {
      subject: { type: 'webhook_event', id: STORY.failedEvent },
      payload: { source: 'siem', error: 'The body fits no known format.' },
    },
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
function eventExample(name: EventName): object {
  const [at, told] = TOLD[name];
  const occurredAt = new Date(at);
  const eventId = firstIdAt(occurredAt.getTime()).replace('-0000-0000-', '-7000-8000-');
  return eventPayload(name, { eventId, occurredAt, publicUrl: PUBLIC_URL, ...told });
}

type Class = new () => object;

/** Fields that every event has. */
abstract class Event {
  @Id('NotificationEventId', {
    description: 'The same in every attempt and every channel: who has seen it does nothing.',
  })
  readonly id: string;

  @Instant({ description: 'When it happened.', example: '2026-01-31T09:30:00.000Z' })
  readonly timestamp: string;
}

/** Schema of each event. */
export const EVENT_SCHEMAS: Readonly<Record<EventName, Class>> = {
  'incident.created': schemaOf('incident.created', data.IncidentData),
  'incident.updated': schemaOf('incident.updated', data.IncidentUpdatedData),
  'incident.severity_changed': schemaOf(
    'incident.severity_changed',
    data.IncidentSeverityChangedData,
  ),
  'incident.triaged': schemaOf('incident.triaged', data.IncidentTriagedData),
  'incident.resolved': schemaOf('incident.resolved', data.IncidentResolvedData),
  'incident.reopened': schemaOf('incident.reopened', data.IncidentReopenedData),
  'incident.deleted': schemaOf('incident.deleted', data.IncidentDeletedData),
  'triage.failed': schemaOf('triage.failed', data.TriageFailedData),
  'action.pending_approval': schemaOf('action.pending_approval', data.ActionData),
  'action.expiring': schemaOf('action.expiring', data.ActionData),
  'action.completed': schemaOf('action.completed', data.ActionData),
  'action.failed': schemaOf('action.failed', data.ActionData),
  'action.rejected': schemaOf('action.rejected', data.ActionData),
  'playbook.step_failed': schemaOf('playbook.step_failed', data.PlaybookStepFailedData),
  'kill_switch.activated': schemaOf('kill_switch.activated', data.KillSwitchData),
  'kill_switch.deactivated': schemaOf('kill_switch.deactivated', data.KillSwitchData),
  'connector.unhealthy': schemaOf('connector.unhealthy', data.ConnectorUnhealthyData),
  'connector.recovered': schemaOf('connector.recovered', data.ConnectorRecoveredData),
  'webhook_event.failed': schemaOf('webhook_event.failed', data.WebhookEventFailedData),
  'notification_channel.unhealthy': schemaOf(
    'notification_channel.unhealthy',
    data.ChannelUnhealthyData,
  ),
  'notification_channel.recovered': schemaOf(
    'notification_channel.recovered',
    data.ChannelRecoveredData,
  ),
  'notification.test': schemaOf('notification.test', data.NotificationTestData),
};

/** Makes the schema of one event: `incident.created` is called `IncidentCreatedEvent` in the contract. */
function schemaOf(name: EventName, dataClass: Class): Class {
  class Schema extends Event {
    @Field({ example: name }, { type: 'string', enum: [name] })
    readonly type: string;

    @Nested(() => dataClass)
    readonly data: object;
  }
  const words = name.split(/[._]/).map((word) => word[0]!.toUpperCase() + word.slice(1));
  Object.defineProperty(Schema, 'name', { value: `${words.join('')}Event` });
  ApiExample(eventExample(name))(Schema);
  return Schema;
}
