import { Field, Id, Instant, Nested } from '../../platform/validation/fields.js';
import { CHANNEL_UNHEALTHY, type EventName, TEST_EVENT } from '../notification.js';
import {
  ActionData,
  ChannelUnhealthyData,
  ConnectorUnhealthyData,
  IncidentData,
  IncidentResolvedData,
  IncidentTriagedData,
  KillSwitchData,
  NotificationTestData,
  TriageFailedData,
} from './event-data.js';

/** What every event has, whatever it tells. */
abstract class Event {
  @Id('NotificationEventId', {
    description: 'The same in every attempt and every channel: who has seen it does nothing.',
  })
  readonly id: string;

  @Instant({ description: 'When it happened.', example: '2026-01-31T09:30:00.000Z' })
  readonly timestamp: string;
}

const Type = (name: EventName) => Field({ example: name }, { type: 'string', enum: [name] });

export class IncidentCreatedEvent extends Event {
  @Type('incident.created')
  readonly type: 'incident.created';

  @Nested(() => IncidentData)
  readonly data: IncidentData;
}

export class IncidentTriagedEvent extends Event {
  @Type('incident.triaged')
  readonly type: 'incident.triaged';

  @Nested(() => IncidentTriagedData)
  readonly data: IncidentTriagedData;
}

export class IncidentResolvedEvent extends Event {
  @Type('incident.resolved')
  readonly type: 'incident.resolved';

  @Nested(() => IncidentResolvedData)
  readonly data: IncidentResolvedData;
}

export class TriageFailedEvent extends Event {
  @Type('triage.failed')
  readonly type: 'triage.failed';

  @Nested(() => TriageFailedData)
  readonly data: TriageFailedData;
}

export class ActionPendingApprovalEvent extends Event {
  @Type('action.pending_approval')
  readonly type: 'action.pending_approval';

  @Nested(() => ActionData)
  readonly data: ActionData;
}

export class ActionCompletedEvent extends Event {
  @Type('action.completed')
  readonly type: 'action.completed';

  @Nested(() => ActionData)
  readonly data: ActionData;
}

export class ActionFailedEvent extends Event {
  @Type('action.failed')
  readonly type: 'action.failed';

  @Nested(() => ActionData)
  readonly data: ActionData;
}

export class ActionRejectedEvent extends Event {
  @Type('action.rejected')
  readonly type: 'action.rejected';

  @Nested(() => ActionData)
  readonly data: ActionData;
}

export class KillSwitchActivatedEvent extends Event {
  @Type('kill_switch.activated')
  readonly type: 'kill_switch.activated';

  @Nested(() => KillSwitchData)
  readonly data: KillSwitchData;
}

export class KillSwitchDeactivatedEvent extends Event {
  @Type('kill_switch.deactivated')
  readonly type: 'kill_switch.deactivated';

  @Nested(() => KillSwitchData)
  readonly data: KillSwitchData;
}

export class ConnectorUnhealthyEvent extends Event {
  @Type('connector.unhealthy')
  readonly type: 'connector.unhealthy';

  @Nested(() => ConnectorUnhealthyData)
  readonly data: ConnectorUnhealthyData;
}

export class NotificationChannelUnhealthyEvent extends Event {
  @Type(CHANNEL_UNHEALTHY)
  readonly type: typeof CHANNEL_UNHEALTHY;

  @Nested(() => ChannelUnhealthyData)
  readonly data: ChannelUnhealthyData;
}

export class NotificationTestEvent extends Event {
  @Type(TEST_EVENT)
  readonly type: typeof TEST_EVENT;

  @Nested(() => NotificationTestData)
  readonly data: NotificationTestData;
}

/** The schema of each event, which has its name in the contract. */
export const EVENT_SCHEMAS = {
  'incident.created': IncidentCreatedEvent,
  'incident.triaged': IncidentTriagedEvent,
  'incident.resolved': IncidentResolvedEvent,
  'triage.failed': TriageFailedEvent,
  'action.pending_approval': ActionPendingApprovalEvent,
  'action.completed': ActionCompletedEvent,
  'action.failed': ActionFailedEvent,
  'action.rejected': ActionRejectedEvent,
  'kill_switch.activated': KillSwitchActivatedEvent,
  'kill_switch.deactivated': KillSwitchDeactivatedEvent,
  'connector.unhealthy': ConnectorUnhealthyEvent,
  [CHANNEL_UNHEALTHY]: NotificationChannelUnhealthyEvent,
  [TEST_EVENT]: NotificationTestEvent,
} as const satisfies Record<EventName, unknown>;

/** An event of any kind. */
export type AnyEvent = InstanceType<(typeof EVENT_SCHEMAS)[EventName]>;
