import type { ActionEventPayload } from '../../actions/action-records.js';
import type {
  IncidentDeletedPayload,
  IncidentEventPayload,
  IncidentReopenedPayload,
  IncidentResolvedPayload,
  IncidentSeverityChangedPayload,
  IncidentTriagedPayload,
  IncidentUpdatedPayload,
} from '../../incidents/change-records.js';
import type { Severity } from '../../incidents/incident.js';
import type { StepFailedPayload } from '../../playbooks/runs/playbook-run.js';
import type { EventSubject } from '../../platform/work/domain-event.js';
import type { EventName } from '../notification.js';
import type {
  ActionData,
  AnyEvent,
  ChannelRecoveredData,
  ChannelUnhealthyData,
  ConnectorRecoveredData,
  ConnectorUnhealthyData,
  EventActionIncident,
  EventChannel,
  EventConnector,
  EventIncident,
  IncidentData,
  IncidentDeletedData,
  IncidentReopenedData,
  IncidentResolvedData,
  IncidentSeverityChangedData,
  IncidentTriagedData,
  IncidentUpdatedData,
  KillSwitchData,
  NotificationTestData,
  PlaybookStepFailedData,
  TriageFailedData,
  WebhookEventFailedData,
} from './event-data.js';
import { apiUrl } from './links.js';

/** A domain event, with what it takes to tell it outside. */
export interface ToldEvent<Payload = unknown> {
  readonly eventId: string;
  readonly occurredAt: Date;
  readonly subject: EventSubject;
  readonly payload: Payload;
  readonly incidentId?: string;
  /** Undefined where there is no incident. */
  readonly incidentNumber?: string;
  /** Without a slash at its end; undefined when nobody has set it. */
  readonly publicUrl?: string;
}

type DataOf<Name extends EventName> = Extract<AnyEvent, { type: Name }>['data'];
type Teller<Name extends EventName> = (told: ToldEvent<never>) => DataOf<Name>;

/** How `data` of each event follows from the domain event. */
const TELLERS: { readonly [Name in EventName]: Teller<Name> } = {
  'incident.created': incidentData,
  'incident.updated': updatedData,
  'incident.severity_changed': severityChangedData,
  'incident.triaged': triagedData,
  'incident.resolved': resolvedData,
  'incident.reopened': reopenedData,
  'incident.deleted': deletedData,
  'triage.failed': triageFailedData,
  'action.pending_approval': actionData,
  'action.expiring': actionData,
  'action.completed': actionData,
  'action.failed': actionData,
  'action.rejected': actionData,
  'playbook.step_failed': stepFailedData,
  'kill_switch.activated': killSwitchData,
  'kill_switch.deactivated': killSwitchData,
  'connector.unhealthy': connectorUnhealthyData,
  'connector.recovered': connectorRecoveredData,
  'webhook_event.failed': webhookEventFailedData,
  'notification_channel.unhealthy': channelUnhealthyData,
  'notification_channel.recovered': channelRecoveredData,
  'notification.test': ({ payload }: ToldEvent<NotificationTestData>): NotificationTestData =>
    payload,
};

/** Whether there is a channel that can be told of events of this name. */
export function isEventName(name: string): name is EventName {
  return Object.hasOwn(TELLERS, name);
}

/** The event as the contract has it. */
export function eventPayload(type: EventName, told: ToldEvent): AnyEvent {
  const timestamp = told.occurredAt.toISOString();
  const data = TELLERS[type](told as ToldEvent<never>);
  // JSON takes away the fields that are undefined, so that a payload is the same to whoever looks at it.
  return JSON.parse(JSON.stringify({ id: told.eventId, type, timestamp, data })) as AnyEvent;
}

function incidentOf(told: ToldEvent<IncidentEventPayload>): EventIncident {
  const { subject, payload, incidentNumber = '' } = told;
  return {
    id: subject.id,
    incident_number: incidentNumber,
    title: payload.title,
    incident_type: payload.incident_type,
    severity: payload.severity,
    status: payload.status,
    source: payload.source,
    url: apiUrl(told.publicUrl, 'incident', subject.id),
  };
}

function incidentData(told: ToldEvent<IncidentEventPayload>): IncidentData {
  return { incident: incidentOf(told) };
}

function updatedData(told: ToldEvent<IncidentUpdatedPayload>): IncidentUpdatedData {
  // Of an event that an earlier release wrote, nobody knows.
  const { updated_by = 'system', changed = [] } = told.payload as Partial<IncidentUpdatedPayload>;
  return { incident: incidentOf(told), updated_by, changed };
}

function severityChangedData(
  told: ToldEvent<IncidentSeverityChangedPayload>,
): IncidentSeverityChangedData {
  const { previous_severity, changed_by } = told.payload;
  return {
    incident: incidentOf(told),
    previous_severity: previous_severity as Severity,
    changed_by,
    because: told.payload.because,
  };
}

function deletedData(told: ToldEvent<IncidentDeletedPayload>): IncidentDeletedData {
  return { incident: incidentOf(told), deleted_by: told.payload.deleted_by };
}

function triagedData(told: ToldEvent<IncidentTriagedPayload>): IncidentTriagedData {
  const { verdict, recommended_actions = [], triaged_by } = told.payload;
  return { incident: incidentOf(told), verdict, recommended_actions, triaged_by };
}

function resolvedData(told: ToldEvent<IncidentResolvedPayload>): IncidentResolvedData {
  const { resolved_by, resolution } = told.payload;
  return { incident: incidentOf(told), resolved_by, resolution };
}

function reopenedData(told: ToldEvent<IncidentReopenedPayload>): IncidentReopenedData {
  const { reopened_by, previous_severity, because, resolved_by, resolved_at, resolution } =
    told.payload;
  return {
    incident: incidentOf(told),
    reopened_by,
    previous_severity: previous_severity as Severity | undefined,
    because,
    resolved_by,
    resolved_at,
    resolution,
  };
}

function triageFailedData(
  told: ToldEvent<IncidentEventPayload & Omit<TriageFailedData, 'incident'>>,
): TriageFailedData {
  const { triage_id, reason, message } = told.payload;
  return { incident: incidentOf(told), triage_id, reason, message };
}

function actionData(told: ToldEvent<ActionEventPayload>): ActionData {
  const { subject, payload } = told;
  return {
    action: {
      id: subject.id,
      action_type: payload.action_type,
      target: payload.target,
      requested_by: payload.requested_by,
      reason: payload.reason,
      expires_at: payload.expires_at,
      approved_by: payload.approved_by,
      rejected_by: payload.rejected_by,
      approval_level: payload.approval_level,
      level_reason: payload.level_reason,
      rollback_of: payload.rollback_of,
      playbook_run_id: payload.playbook_run_id,
      message: payload.message,
      code: payload.code,
      simulated: payload.simulated,
      url: apiUrl(told.publicUrl, 'action', subject.id),
    },
    incident: aboutIncident(told),
  };
}

/** The incident that an action or a run is about. */
function aboutIncident({
  incidentId,
  incidentNumber = '',
  payload,
  publicUrl,
}: ToldEvent<Pick<ActionEventPayload, 'incident_title' | 'severity'>>):
  EventActionIncident | undefined {
  if (incidentId === undefined) return undefined;
  return {
    id: incidentId,
    incident_number: incidentNumber,
    title: payload.incident_title,
    severity: payload.severity,
    url: apiUrl(publicUrl, 'incident', incidentId),
  };
}

function stepFailedData(told: ToldEvent<StepFailedPayload>): PlaybookStepFailedData {
  const { playbook, playbook_version, automatic, step, message, action_id } = told.payload;
  return {
    run: { id: told.subject.id, playbook, playbook_version, automatic },
    step,
    message,
    action_id,
    incident: aboutIncident(told),
  };
}

function killSwitchData({ payload }: ToldEvent<KillSwitchData>): KillSwitchData {
  const { by, reason, discarded } = payload;
  return { by, reason, discarded };
}

/** What is told of a connector or a channel. */
interface Named {
  readonly name: string;
  readonly type: string;
}

function connectorOf(told: ToldEvent<Named>): EventConnector {
  const { name, type } = told.payload;
  const { id } = told.subject;
  return { id, name, type, url: apiUrl(told.publicUrl, 'connector', id) };
}

function connectorUnhealthyData(
  told: ToldEvent<Named & Pick<ConnectorUnhealthyData, 'message'>>,
): ConnectorUnhealthyData {
  return { connector: connectorOf(told), message: told.payload.message };
}

function connectorRecoveredData(
  told: ToldEvent<Named & Omit<ConnectorRecoveredData, 'connector'>>,
): ConnectorRecoveredData {
  const { unhealthy_since, message } = told.payload;
  return { connector: connectorOf(told), unhealthy_since, message };
}

function webhookEventFailedData(
  told: ToldEvent<{ readonly source: string; readonly error: string }>,
): WebhookEventFailedData {
  const { source, error } = told.payload;
  const { id } = told.subject;
  const url = apiUrl(told.publicUrl, 'webhook_event', id);
  return { webhook_event: { id, source, url }, message: error };
}

function channelOf(told: ToldEvent<Named>): EventChannel {
  const { name, type } = told.payload;
  const { id } = told.subject;
  return { id, name, type, url: apiUrl(told.publicUrl, 'notification_channel', id) };
}

function channelUnhealthyData(
  told: ToldEvent<Named & Omit<ChannelUnhealthyData, 'channel'>>,
): ChannelUnhealthyData {
  const { failing_since, message } = told.payload;
  return { channel: channelOf(told), failing_since, message };
}

function channelRecoveredData(
  told: ToldEvent<Named & Omit<ChannelRecoveredData, 'channel'>>,
): ChannelRecoveredData {
  return { channel: channelOf(told), unhealthy_since: told.payload.unhealthy_since };
}
