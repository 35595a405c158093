import { CHANGED_FIELDS } from '../../incidents/incident-changes.js';
import {
  type Classification,
  CLASSIFICATIONS,
  INCIDENT_STATUSES,
  type IncidentStatus,
  SEVERITIES,
  type Severity,
} from '../../incidents/incident.js';
import {
  ActionId,
  FAILURE_CODES,
  type FailureCode,
  REQUIRED_LEVELS,
  type RequiredLevel,
} from '../../actions/action.js';
import {
  Choice,
  Decimal,
  Flag,
  Id,
  Instant,
  JsonObject,
  Nested,
  OpenChoices,
  Text,
  Texts,
  WholeNumber,
} from '../../platform/validation/fields.js';
import type { EventName } from '../notification.js';

/* What `data` holds, by the kind of event. A change that a receiver could stumble over gets an event of another name. */

const Url = () =>
  Text({
    optional: true,
    format: 'uri',
    description: 'Where a program can read it. Absent while PUBLIC_URL is not set.',
    example: 'https://triage.example.com/api/incidents/0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  });
const Why = (description: string, example: string) => Text({ description, example });

/** The incident as it was when the event happened. */
export class EventIncident {
  @Id('IncidentId')
  readonly id: string;

  @Text({ example: 'INC-2026-0042' })
  readonly incident_number: string;

  @Text({ example: 'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com' })
  readonly title: string;

  @Text({ example: 'phishing' })
  readonly incident_type: string;

  @Choice('Severity', SEVERITIES, { example: 'high' })
  readonly severity: Severity;

  @Choice('IncidentStatus', INCIDENT_STATUSES, {
    optional: true,
    description: 'Absent from events that a release before this field recorded.',
    example: 'open',
  })
  readonly status?: IncidentStatus;

  @Text({ example: 'email-gateway' })
  readonly source: string;

  @Url()
  readonly url?: string;
}

export class IncidentData {
  @Nested(() => EventIncident)
  readonly incident: EventIncident;
}

export class IncidentUpdatedData extends IncidentData {
  @Text({ description: 'A person, a webhook source, or the system.', example: 'alice' })
  readonly updated_by: string;

  @OpenChoices('ChangedField', CHANGED_FIELDS, {
    description: 'Which fields have another value. Empty where its tool only reported more.',
    example: ['severity'],
  })
  readonly changed: readonly string[];
}

export class IncidentSeverityChangedData extends IncidentData {
  @Choice('Severity', SEVERITIES, {
    description: 'Before the change; `incident` has the one after it.',
    example: 'medium',
  })
  readonly previous_severity: Severity;

  @Text({ description: 'Who changed it: a person, or a webhook source.', example: 'alice' })
  readonly changed_by: string;

  @Text({ optional: true, description: 'What the tool reported. Absent if a person changed it.' })
  readonly because?: string;
}

export class IncidentDeletedData extends IncidentData {
  @Text({ description: 'Who deleted it.', example: 'admin' })
  readonly deleted_by: string;
}

export class EventVerdict {
  @Choice('Classification', CLASSIFICATIONS, { example: 'malicious' })
  readonly classification: Classification;

  @Decimal({ optional: true, min: 0, max: 1, example: 0.94 })
  readonly confidence?: number;

  @Text({ optional: true, example: 'phishing' })
  readonly category?: string;

  @Text({ description: 'Who decided: a person, or the system.', example: 'system' })
  readonly decided_by: string;
}

export class IncidentTriagedData extends IncidentData {
  @Nested(() => EventVerdict, {
    optional: true,
    description: 'Absent when a person triaged without a verdict.',
  })
  readonly verdict?: EventVerdict;

  @Texts({ example: ['quarantine_email', 'block_sender'] })
  readonly recommended_actions: readonly string[];

  @Text({ description: 'Who triaged it, or asked for it.', example: 'alice' })
  readonly triaged_by: string;
}

export class IncidentResolvedData extends IncidentData {
  @Text({ description: 'Who resolved it.', example: 'alice' })
  readonly resolved_by: string;

  @Text({
    optional: true,
    description: 'The beginning of the resolution.',
    example: 'The mail is deleted, and nobody clicked.',
  })
  readonly resolution?: string;
}

export class IncidentReopenedData extends IncidentData {
  @Text({ description: 'Who opened it again.', example: 'alice' })
  readonly reopened_by: string;

  @Choice('Severity', SEVERITIES, {
    optional: true,
    description: 'Present if the severity changed together with the reopening.',
  })
  readonly previous_severity?: Severity;

  @Text({ optional: true, description: 'What the tool reported. Absent if a person reopened it.' })
  readonly because?: string;

  @Text({ optional: true, description: 'Who had resolved it.' })
  readonly resolved_by?: string;

  @Instant({ optional: true, description: 'When it had been resolved.' })
  readonly resolved_at?: string;

  @Text({ optional: true, description: 'The beginning of the resolution that it had.' })
  readonly resolution?: string;
}

export class TriageFailedData extends IncidentData {
  @Id('TriageRunId')
  readonly triage_id: string;

  @Text({ optional: true, example: 'timeout' })
  readonly reason?: string;

  @Text({ optional: true, example: 'The model did not answer in time.' })
  readonly message?: string;
}

/** The incident of an action. */
export class EventActionIncident {
  @Id('IncidentId')
  readonly id: string;

  @Text({ example: 'INC-2026-0042' })
  readonly incident_number: string;

  @Text({ optional: true, example: 'Beacon on WS-042' })
  readonly title?: string;

  @Choice('Severity', SEVERITIES, { optional: true, example: 'high' })
  readonly severity?: Severity;

  @Url()
  readonly url?: string;
}

export class EventAction {
  @ActionId()
  readonly id: string;

  @Text({ example: 'isolate_host' })
  readonly action_type: string;

  @Text({ description: 'What the action is done to.', example: 'WS-042' })
  readonly target: string;

  @Text({ example: 'alice' })
  readonly requested_by: string;

  @Text({
    optional: true,
    description: 'The beginning of why it was asked for.',
    example: 'It talks to a server of attackers.',
  })
  readonly reason?: string;

  @Instant({
    optional: true,
    description: 'Until when it waits for approval. Absent where it does not wait.',
    example: '2026-01-31T13:30:00.000Z',
  })
  readonly expires_at?: string;

  @Text({
    optional: true,
    description: 'Who approved it. Absent where nobody did.',
    example: 'carol',
  })
  readonly approved_by?: string;

  @Text({
    optional: true,
    description: 'Who rejected it: a person, or the system.',
    example: 'bob',
  })
  readonly rejected_by?: string;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description: 'The level that its approval needs. Absent where it needs none.',
    example: 'senior',
  })
  readonly approval_level?: RequiredLevel;

  @Text({
    optional: true,
    description:
      'Why the approval needs a higher level than the type of the action. Absent where it does not.',
  })
  readonly level_reason?: string;

  @ActionId({ optional: true, description: 'The action that it undoes.', example: undefined })
  readonly rollback_of?: string;

  @Id('PlaybookRunId', { optional: true, example: undefined })
  readonly playbook_run_id?: string;

  @Text({
    optional: true,
    description: 'What came of it, or why it was rejected.',
    example: 'The host is isolated.',
  })
  readonly message?: string;

  @Choice('ActionFailureCode', FAILURE_CODES, {
    optional: true,
    description: 'Why it failed. Absent where it did not, or where no code fits.',
    example: 'refused',
  })
  readonly code?: FailureCode;

  @Flag({
    optional: true,
    description: 'A sandbox answered, and nothing happened outside. Absent where it is real.',
    example: true,
  })
  readonly simulated?: true;

  @Url()
  readonly url?: string;
}

export class ActionData {
  @Nested(() => EventAction)
  readonly action: EventAction;

  @Nested(() => EventActionIncident, {
    optional: true,
    description: 'Absent for an action that belongs to no incident.',
  })
  readonly incident?: EventActionIncident;
}

export class EventPlaybookRun {
  @Id('PlaybookRunId')
  readonly id: string;

  @Text({ description: 'The playbook, as it was called then.', example: 'phishing-response' })
  readonly playbook: string;

  @WholeNumber({ min: 1, example: 2 })
  readonly playbook_version: number;

  @Flag({ description: 'It started by itself after a triage.', example: true })
  readonly automatic: boolean;
}

export class PlaybookStepFailedData {
  @Nested(() => EventPlaybookRun)
  readonly run: EventPlaybookRun;

  @Text({ description: 'Its name.', example: 'quarantine' })
  readonly step: string;

  @Why('Why it failed.', 'steps.4.parameters.recipient at character 4: There is no recipient here.')
  readonly message: string;

  @ActionId({
    optional: true,
    description:
      'The action of the step. Absent where the step came to none, such as when an expression could not be evaluated.',
    example: undefined,
  })
  readonly action_id?: string;

  @Nested(() => EventActionIncident, {
    optional: true,
    description: 'Absent for a run that is about no incident.',
  })
  readonly incident?: EventActionIncident;
}

export class KillSwitchData {
  @Text({ description: 'Who turned it on or off.', example: 'alice' })
  readonly by: string;

  @Why('Why.', 'A playbook isolates the wrong hosts.')
  readonly reason: string;

  @JsonObject({
    optional: true,
    description: 'How much waiting work was ended, where that was asked for.',
    example: { actions: 2, triage_runs: 0, playbook_runs: 1 },
  })
  readonly discarded?: Readonly<Record<string, unknown>>;
}

export class EventConnector {
  @Id('ConnectorId')
  readonly id: string;

  @Text({ example: 'firewall' })
  readonly name: string;

  @Text({ example: 'http' })
  readonly type: string;

  @Url()
  readonly url?: string;
}

export class EventChannel {
  @Id('NotificationChannelId')
  readonly id: string;

  @Text({ example: 'soc' })
  readonly name: string;

  @Text({ example: 'webhook' })
  readonly type: string;

  @Url()
  readonly url?: string;
}

export class EventWebhookEvent {
  @Id('WebhookEventId')
  readonly id: string;

  @Text({ example: 'siem' })
  readonly source: string;

  @Url()
  readonly url?: string;
}

export class WebhookEventFailedData {
  @Nested(() => EventWebhookEvent)
  readonly webhook_event: EventWebhookEvent;

  @Why('Why it failed.', 'The body fits no known format.')
  readonly message: string;
}

export class ConnectorUnhealthyData {
  @Nested(() => EventConnector)
  readonly connector: EventConnector;

  @Why('What its check found.', 'The connection failed (ECONNREFUSED).')
  readonly message: string;
}

export class ChannelUnhealthyData {
  @Nested(() => EventChannel)
  readonly channel: EventChannel;

  @Instant({ description: 'When it began to fail.', example: '2026-11-02T09:20:00.000Z' })
  readonly failing_since: string;

  @Why('Why its last attempt failed.', 'It answered with status 500.')
  readonly message: string;
}

const UnhealthySince = () =>
  Instant({
    description: 'When others were told that it does not work.',
    example: '2026-11-02T09:30:00.000Z',
  });

export class ConnectorRecoveredData {
  @Nested(() => EventConnector)
  readonly connector: EventConnector;

  @UnhealthySince()
  readonly unhealthy_since: string;

  @Why('What its check found.', 'The vendor answered.')
  readonly message: string;
}

export class ChannelRecoveredData {
  @Nested(() => EventChannel)
  readonly channel: EventChannel;

  @UnhealthySince()
  readonly unhealthy_since: string;
}

export class NotificationTestData {
  @Why('Says that it is a test.', 'This is a test of the channel soc.')
  readonly message: string;
}

/** `data` of each event. */
interface DataByEvent {
  'incident.created': IncidentData;
  'incident.updated': IncidentUpdatedData;
  'incident.severity_changed': IncidentSeverityChangedData;
  'incident.triaged': IncidentTriagedData;
  'incident.resolved': IncidentResolvedData;
  'incident.reopened': IncidentReopenedData;
  'incident.deleted': IncidentDeletedData;
  'triage.failed': TriageFailedData;
  'action.pending_approval': ActionData;
  'action.expiring': ActionData;
  'action.completed': ActionData;
  'action.failed': ActionData;
  'action.rejected': ActionData;
  'playbook.step_failed': PlaybookStepFailedData;
  'kill_switch.activated': KillSwitchData;
  'kill_switch.deactivated': KillSwitchData;
  'connector.unhealthy': ConnectorUnhealthyData;
  'connector.recovered': ConnectorRecoveredData;
  'webhook_event.failed': WebhookEventFailedData;
  'notification_channel.unhealthy': ChannelUnhealthyData;
  'notification_channel.recovered': ChannelRecoveredData;
  'notification.test': NotificationTestData;
}

/** An event as channels of the type webhook get it. */
export type AnyEvent = {
  [Name in EventName]: {
    readonly id: string;
    readonly timestamp: string;
    readonly type: Name;
    readonly data: DataByEvent[Name];
  };
}[EventName];
