import { applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { ApiExample } from '../../platform/openapi/answers.js';
import { WEBHOOK_EXTENSION } from '../../platform/openapi/version-3-1.js';
import { Field, Id, Instant, Nested } from '../../platform/validation/fields.js';
import {
  CHANNEL_RECOVERED,
  CHANNEL_UNHEALTHY,
  type EventName,
  TEST_EVENT,
} from '../notification.js';
import {
  ActionData,
  ChannelRecoveredData,
  ChannelUnhealthyData,
  ConnectorRecoveredData,
  ConnectorUnhealthyData,
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
} from './event-data.js';
import { eventExample } from './event-examples.js';

/** What every event has, whatever it tells. */
abstract class Event {
  @Id('NotificationEventId', {
    description: 'The same in every attempt and every channel: who has seen it does nothing.',
  })
  readonly id: string;

  @Instant({ description: 'When it happened.', example: '2026-01-31T09:30:00.000Z' })
  readonly timestamp: string;
}

/** In OpenAPI 3.1 the contract shows the event among its webhooks. */
const SentAs = (name: EventName) =>
  applyDecorators(ApiExtension(WEBHOOK_EXTENSION, name), ApiExample(eventExample(name)));

const Type = (name: EventName) => Field({ example: name }, { type: 'string', enum: [name] });

@SentAs('incident.created')
export class IncidentCreatedEvent extends Event {
  @Type('incident.created')
  readonly type: 'incident.created';

  @Nested(() => IncidentData)
  readonly data: IncidentData;
}

@SentAs('incident.updated')
export class IncidentUpdatedEvent extends Event {
  @Type('incident.updated')
  readonly type: 'incident.updated';

  @Nested(() => IncidentUpdatedData)
  readonly data: IncidentUpdatedData;
}

@SentAs('incident.severity_changed')
export class IncidentSeverityChangedEvent extends Event {
  @Type('incident.severity_changed')
  readonly type: 'incident.severity_changed';

  @Nested(() => IncidentSeverityChangedData)
  readonly data: IncidentSeverityChangedData;
}

@SentAs('incident.triaged')
export class IncidentTriagedEvent extends Event {
  @Type('incident.triaged')
  readonly type: 'incident.triaged';

  @Nested(() => IncidentTriagedData)
  readonly data: IncidentTriagedData;
}

@SentAs('incident.resolved')
export class IncidentResolvedEvent extends Event {
  @Type('incident.resolved')
  readonly type: 'incident.resolved';

  @Nested(() => IncidentResolvedData)
  readonly data: IncidentResolvedData;
}

@SentAs('incident.reopened')
export class IncidentReopenedEvent extends Event {
  @Type('incident.reopened')
  readonly type: 'incident.reopened';

  @Nested(() => IncidentReopenedData)
  readonly data: IncidentReopenedData;
}

@SentAs('incident.deleted')
export class IncidentDeletedEvent extends Event {
  @Type('incident.deleted')
  readonly type: 'incident.deleted';

  @Nested(() => IncidentDeletedData)
  readonly data: IncidentDeletedData;
}

@SentAs('triage.failed')
export class TriageFailedEvent extends Event {
  @Type('triage.failed')
  readonly type: 'triage.failed';

  @Nested(() => TriageFailedData)
  readonly data: TriageFailedData;
}

@SentAs('action.pending_approval')
export class ActionPendingApprovalEvent extends Event {
  @Type('action.pending_approval')
  readonly type: 'action.pending_approval';

  @Nested(() => ActionData)
  readonly data: ActionData;
}

@SentAs('action.expiring')
export class ActionExpiringEvent extends Event {
  @Type('action.expiring')
  readonly type: 'action.expiring';

  @Nested(() => ActionData)
  readonly data: ActionData;
}

@SentAs('action.completed')
export class ActionCompletedEvent extends Event {
  @Type('action.completed')
  readonly type: 'action.completed';

  @Nested(() => ActionData)
  readonly data: ActionData;
}

@SentAs('action.failed')
export class ActionFailedEvent extends Event {
  @Type('action.failed')
  readonly type: 'action.failed';

  @Nested(() => ActionData)
  readonly data: ActionData;
}

@SentAs('action.rejected')
export class ActionRejectedEvent extends Event {
  @Type('action.rejected')
  readonly type: 'action.rejected';

  @Nested(() => ActionData)
  readonly data: ActionData;
}

@SentAs('playbook.step_failed')
export class PlaybookStepFailedEvent extends Event {
  @Type('playbook.step_failed')
  readonly type: 'playbook.step_failed';

  @Nested(() => PlaybookStepFailedData)
  readonly data: PlaybookStepFailedData;
}

@SentAs('kill_switch.activated')
export class KillSwitchActivatedEvent extends Event {
  @Type('kill_switch.activated')
  readonly type: 'kill_switch.activated';

  @Nested(() => KillSwitchData)
  readonly data: KillSwitchData;
}

@SentAs('kill_switch.deactivated')
export class KillSwitchDeactivatedEvent extends Event {
  @Type('kill_switch.deactivated')
  readonly type: 'kill_switch.deactivated';

  @Nested(() => KillSwitchData)
  readonly data: KillSwitchData;
}

@SentAs('connector.unhealthy')
export class ConnectorUnhealthyEvent extends Event {
  @Type('connector.unhealthy')
  readonly type: 'connector.unhealthy';

  @Nested(() => ConnectorUnhealthyData)
  readonly data: ConnectorUnhealthyData;
}

@SentAs('connector.recovered')
export class ConnectorRecoveredEvent extends Event {
  @Type('connector.recovered')
  readonly type: 'connector.recovered';

  @Nested(() => ConnectorRecoveredData)
  readonly data: ConnectorRecoveredData;
}

@SentAs(CHANNEL_UNHEALTHY)
export class NotificationChannelUnhealthyEvent extends Event {
  @Type(CHANNEL_UNHEALTHY)
  readonly type: typeof CHANNEL_UNHEALTHY;

  @Nested(() => ChannelUnhealthyData)
  readonly data: ChannelUnhealthyData;
}

@SentAs(CHANNEL_RECOVERED)
export class NotificationChannelRecoveredEvent extends Event {
  @Type(CHANNEL_RECOVERED)
  readonly type: typeof CHANNEL_RECOVERED;

  @Nested(() => ChannelRecoveredData)
  readonly data: ChannelRecoveredData;
}

@SentAs(TEST_EVENT)
export class NotificationTestEvent extends Event {
  @Type(TEST_EVENT)
  readonly type: typeof TEST_EVENT;

  @Nested(() => NotificationTestData)
  readonly data: NotificationTestData;
}

/** The schema of each event, which has its name in the contract. */
export const EVENT_SCHEMAS = {
  'incident.created': IncidentCreatedEvent,
  'incident.updated': IncidentUpdatedEvent,
  'incident.severity_changed': IncidentSeverityChangedEvent,
  'incident.triaged': IncidentTriagedEvent,
  'incident.resolved': IncidentResolvedEvent,
  'incident.reopened': IncidentReopenedEvent,
  'incident.deleted': IncidentDeletedEvent,
  'triage.failed': TriageFailedEvent,
  'action.pending_approval': ActionPendingApprovalEvent,
  'action.expiring': ActionExpiringEvent,
  'action.completed': ActionCompletedEvent,
  'action.failed': ActionFailedEvent,
  'action.rejected': ActionRejectedEvent,
  'playbook.step_failed': PlaybookStepFailedEvent,
  'kill_switch.activated': KillSwitchActivatedEvent,
  'kill_switch.deactivated': KillSwitchDeactivatedEvent,
  'connector.unhealthy': ConnectorUnhealthyEvent,
  'connector.recovered': ConnectorRecoveredEvent,
  [CHANNEL_UNHEALTHY]: NotificationChannelUnhealthyEvent,
  [CHANNEL_RECOVERED]: NotificationChannelRecoveredEvent,
  [TEST_EVENT]: NotificationTestEvent,
} as const satisfies Record<EventName, unknown>;

/** An event of any kind. */
export type AnyEvent = InstanceType<(typeof EVENT_SCHEMAS)[EventName]>;
