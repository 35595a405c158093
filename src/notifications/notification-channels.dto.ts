import { SEVERITIES, type Severity } from '../incidents/incident.js';
import { presentTime } from '../platform/clock.js';
import { PageQueryDto, SortWords } from '../platform/paging/page-query.dto.js';
import {
  Choice,
  Choices,
  type FieldOptions,
  Flag,
  GivenName,
  Id,
  Instant,
  JsonObject,
  Text,
  Texts,
  WholeNumber,
} from '../platform/validation/fields.js';
import { NullIsAbsent } from '../platform/validation/json-shield.js';
import { present } from '../platform/validation/present.js';
import type { Config, ConfigSchema } from '../targets/target-config.js';
import type { RequestsByType } from '../targets/target-contract.js';
import type { ChannelType } from './channel-type.js';
import { CHANNEL_TYPES } from './channel-types.js';
import { NOTIFIED_EVENTS, type NotifiedEvent } from './notification.js';
import {
  CHANNEL_STATUSES,
  type ChannelStatus,
  channelStatusOf,
} from './notification-channel.entity.js';
import { CHANNEL_SORTS, type ChannelSort } from './notification-channels.repository.js';
import type { ShownChannel } from './notification-channels.service.js';

const Events = (options: FieldOptions = {}) =>
  Choices('NotifiedEvent', NOTIFIED_EVENTS, {
    maxItems: NOTIFIED_EVENTS.length,
    description:
      'Events that are sent to the channel. Failures and recoveries of other channels are always sent.',
    ...options,
  });

const MinSeverity = (options: FieldOptions = {}) =>
  Choice('Severity', SEVERITIES, {
    description:
      'Minimum severity of the incident. Later events of an incident that the channel was already notified about are sent at any severity. Events without an incident are always sent.',
    ...options,
  });

const NewIncidentMinSeverity = (more = '') =>
  Choice('Severity', SEVERITIES, {
    optional: true,
    description: `Minimum severity for \`incident.created\` and \`incident.severity_changed\`; the latter is then sent for raised severities only.${more}`,
  });

/** The contract has one schema per type instead: see CHANNEL_REQUEST. */
@NullIsAbsent()
export class NotificationChannelInputDto {
  @GivenName()
  readonly name: string;

  @Text()
  readonly type: string;

  @JsonObject()
  readonly config: Config;

  @Flag({ optional: true, default: true })
  readonly enabled?: boolean;

  @Events({
    optional: true,
    description:
      'Events that are sent to the channel. Default: every event for type webhook; for the types that people read, the events that somebody should act on (see docs/notifications.md).',
  })
  readonly events?: NotifiedEvent[];

  @MinSeverity({ optional: true, default: 'low' })
  readonly min_severity?: Severity;

  @NewIncidentMinSeverity(
    ' Default without `events`, for the types that people read: `min_severity`, or high.',
  )
  readonly new_incident_min_severity?: Severity;
}

/** Contract of a request for a channel: one schema per type. */
export const CHANNEL_REQUEST: RequestsByType = {
  union: 'NotificationChannelInput',
  noun: 'Channel',
  configNoun: 'Channel',
  request: NotificationChannelInputDto,
  otherFields: ['enabled', 'events', 'min_severity', 'new_incident_min_severity'],
  configs: Object.fromEntries(
    CHANNEL_TYPES.all.map(({ name, requestConfig }) => [name, requestConfig]),
  ),
};

@NullIsAbsent()
export class NotificationChannelUpdateDto {
  @GivenName({ optional: true })
  readonly name?: string;

  @JsonObject({
    optional: true,
    description:
      'Fields to change. Absent fields do not change, including secrets. If the scheme, host or port of a destination of secrets changes, each secret must be given again (code secret_required).',
  })
  readonly config?: Config;

  @Flag({ optional: true })
  readonly enabled?: boolean;

  @Events({ optional: true })
  readonly events?: NotifiedEvent[];

  @MinSeverity({ optional: true })
  readonly min_severity?: Severity;

  @NewIncidentMinSeverity()
  readonly new_incident_min_severity?: Severity;

  @Flag({
    optional: true,
    description:
      'Generates a new signing secret and returns it once. For 24 hours messages also have a signature with the previous secret.',
  })
  readonly rotate_secret?: boolean;

  @Flag({ optional: true, description: 'Revokes the previous signing secret at once.' })
  readonly revoke_old_secret?: boolean;
}

export class NotificationChannelQueryDto extends PageQueryDto {
  @SortWords('NotificationChannelSort', CHANNEL_SORTS)
  readonly sort: readonly ChannelSort[] = ['-created_at'];
}

export class NotificationChannelDto {
  @Id('NotificationChannelId')
  readonly id: string;

  @GivenName()
  readonly name: string;

  @Text()
  readonly type: string;

  @Flag()
  readonly enabled: boolean;

  @Events()
  readonly events: readonly NotifiedEvent[];

  @MinSeverity()
  readonly min_severity: Severity;

  @NewIncidentMinSeverity()
  readonly new_incident_min_severity?: Severity;

  @JsonObject({ description: 'Configuration without secrets.' })
  readonly config: Config;

  @Texts({ description: 'Names of the secrets that are set.' })
  readonly secrets_set: readonly string[];

  @Instant({
    optional: true,
    description:
      'End of the time in which messages also have a signature with the previous secret.',
  })
  readonly old_secret_valid_until?: Date;

  @Choice('ComponentStatus', CHANNEL_STATUSES, {
    description:
      'healthy: the last attempt succeeded. degraded: it failed. unhealthy: all attempts of the last ten minutes failed, and the other channels were notified.',
  })
  readonly status: ChannelStatus;

  @Instant({ optional: true, description: 'First failure since the last success.' })
  readonly failing_since?: Date;

  @Text({ optional: true, description: 'Reason of the last failure.' })
  readonly last_error?: string;

  @Instant({
    optional: true,
    description:
      'Nothing is sent before this time, because several attempts failed or the receiver asked to wait. A change of `config` or `enabled`, or a successful test, ends the pause.',
  })
  readonly paused_until?: Date;

  @WholeNumber({
    min: 0,
    max: 1_000,
    description: 'Number of deliveries that died in the last 24 hours. 1000 means 1000 or more.',
  })
  readonly dead_last_day: number;

  @Text({ description: 'Principal that created the channel.' })
  readonly created_by: string;

  @Instant()
  readonly created_at: Date;

  @Instant()
  readonly updated_at: Date;
}

export class ChangedNotificationChannelDto extends NotificationChannelDto {
  @Text({
    optional: true,
    description: 'Secret that the service generated in this change. It is shown only once.',
  })
  readonly secret?: string;
}

const presentChannel = present(ChangedNotificationChannelDto);

export function shownChannel(row: ShownChannel): ChangedNotificationChannelDto {
  const now = presentTime();
  const ifAhead = (time: Date | null) => (time && time.getTime() > now ? time : null);
  return presentChannel({
    ...row,
    secrets_set: row.secret_names,
    old_secret_valid_until: ifAhead(row.former_secret_until),
    status: channelStatusOf(row),
    paused_until: ifAhead(row.paused_until),
  });
}

export class NotificationChannelTypeDto {
  @Text()
  readonly name: string;

  @Text()
  readonly description: string;

  @JsonObject({ description: 'JSON Schema of `config`. Fields with writeOnly are secrets.' })
  readonly config_schema: ConfigSchema;
}

export function shownType({ name, description, requestConfig }: ChannelType) {
  return { name, description, config_schema: requestConfig };
}

export class NotificationTestDto {
  @Flag()
  readonly success: boolean;

  @Text()
  readonly message: string;

  @WholeNumber({ min: 0 })
  readonly latency_ms: number;
}
