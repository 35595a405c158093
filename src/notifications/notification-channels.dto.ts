import type { Config, ConfigSchema } from '../targets/target-config.js';
import { SEVERITIES, type Severity } from '../incidents/incident.js';
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
import type { RequestsByType } from '../targets/target-contract.js';
import type { ChannelType } from './channel-type.js';
import { CHANNEL_TYPES } from './channel-types.js';
import type { TestResult } from './deliveries/deliveries.service.js';
import { NOTIFIED_EVENTS, type NotifiedEvent } from './notification.js';
import {
  CHANNEL_STATUSES,
  type ChannelRecord,
  type ChannelStatus,
  channelStatusOf,
} from './notification-channel.js';
import type { ChangedChannel } from './notification-channels.service.js';
import { NEW_CHANNEL_EXAMPLE, SECRET_EXAMPLE } from './channel-example.js';
import { CHANNEL_SORTS, type ChannelSort } from './records/notification-channels.repository.js';
import { presentTime } from '../platform/clock.js';

const Name = (options: FieldOptions = {}) => GivenName({ ...options, example: 'soc' });

const Events = (options: FieldOptions = {}) =>
  Choices('NotifiedEvent', NOTIFIED_EVENTS, {
    maxItems: NOTIFIED_EVENTS.length,
    description:
      'What it is told of. That another channel fails for long, or works again, it is always told.',
    example: NEW_CHANNEL_EXAMPLE.events,
    ...options,
  });

const MinSeverity = (options: FieldOptions = {}) =>
  Choice('Severity', SEVERITIES, {
    description:
      'Of incidents, and of what is done about them, only those of at least this severity. Once it was told of an incident, it is told how that goes on, also at a lower one. What belongs to no incident is told at any.',
    example: NEW_CHANNEL_EXAMPLE.min_severity,
    ...options,
  });

const NewIncidentMinSeverity = (more = '') =>
  Choice('Severity', SEVERITIES, {
    optional: true,
    description: `Minimum severity for \`incident.created\` and \`incident.severity_changed\`; the latter is then sent for raised severities only.${more}`,
    example: undefined,
  });

/** The contract has one schema per type instead: see CHANNEL_REQUEST. */
@NullIsAbsent()
export class NotificationChannelInputDto {
  @Name()
  readonly name: string;

  @Text()
  readonly type: string;

  @JsonObject()
  readonly config: Config;

  @Flag({ optional: true, default: true, example: true })
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
  @Name({ optional: true })
  readonly name?: string;

  @JsonObject({
    optional: true,
    description:
      'The fields to change; the others stay, secrets too. Where the scheme, host or port of an address changes that secrets are sent to, each secret has to be given again (code secret_required).',
    example: { url: 'https://hooks.example.com/v2/incidents' },
  })
  readonly config?: Config;

  @Flag({ optional: true, example: false })
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
      'The service makes a new secret for signatures and shows it once. For 24 hours each message has a second signature, by the secret before.',
    example: true,
  })
  readonly rotate_secret?: boolean;

  @Flag({
    optional: true,
    description: 'The secret before the present one ends at once, and not after 24 hours.',
    example: true,
  })
  readonly revoke_old_secret?: boolean;
}

export class NotificationChannelQueryDto extends PageQueryDto {
  @SortWords('NotificationChannelSort', CHANNEL_SORTS)
  readonly sort: readonly ChannelSort[] = ['-created_at'];
}

export class NotificationChannelDto {
  @Id('NotificationChannelId')
  readonly id: string;

  @Name()
  readonly name: string;

  @Text({ example: 'webhook' })
  readonly type: string;

  @Flag({ example: true })
  readonly enabled: boolean;

  @Events()
  readonly events: readonly NotifiedEvent[];

  @MinSeverity()
  readonly min_severity: Severity;

  @NewIncidentMinSeverity()
  readonly new_incident_min_severity?: Severity;

  @JsonObject({ description: 'Without its secrets.', example: NEW_CHANNEL_EXAMPLE.config })
  readonly config: Config;

  @Texts({ description: 'Which secrets are set.', example: ['secret'] })
  readonly secrets_set: readonly string[];

  @Instant({
    optional: true,
    description: 'Until when messages have a second signature, by the secret before.',
  })
  readonly old_secret_valid_until?: string;

  @Choice('ComponentStatus', CHANNEL_STATUSES, {
    description:
      'healthy: its last attempt was no failure. degraded: it fails. unhealthy: it has failed for more than ten minutes, and the other channels were told.',
    example: 'healthy',
  })
  readonly status: ChannelStatus;

  @Instant({ optional: true, description: 'When it began to fail. Absent while it does not.' })
  readonly failing_since?: string;

  @Text({ optional: true, description: 'Why its last attempt failed.' })
  readonly last_error?: string;

  @Instant({
    optional: true,
    description:
      'Nothing is sent to it before: it failed several times in a row, or its receiver asked to wait. A change of `config` or `enabled`, and a test that succeeds, end that.',
  })
  readonly paused_until?: string;

  @WholeNumber({
    min: 0,
    max: 1_000,
    description:
      'How many deliveries were given up in the last 24 hours; 1000 stands for that many and more.',
    example: 0,
  })
  readonly dead_last_day: number;

  @Text({ description: 'Who set it up.', example: 'alice' })
  readonly created_by: string;

  @Instant({ example: '2026-11-02T09:00:00.000Z' })
  readonly created_at: string;

  @Instant({ example: '2026-11-02T09:00:00.000Z' })
  readonly updated_at: string;

  static from(this: void, record: ChannelRecord): NotificationChannelDto {
    const { formerSecretUntil, pausedUntil } = record;
    const now = new Date(presentTime());
    const isValid = formerSecretUntil !== undefined && formerSecretUntil > now;
    const isPaused = pausedUntil !== undefined && pausedUntil > now;
    return {
      id: record.id,
      name: record.name,
      type: record.type,
      enabled: record.enabled,
      events: record.events,
      min_severity: record.minSeverity,
      new_incident_min_severity: record.newIncidentMinSeverity,
      config: record.config,
      secrets_set: record.secret_names,
      old_secret_valid_until: isValid ? formerSecretUntil.toISOString() : undefined,
      status: channelStatusOf(record),
      failing_since: record.failingSince?.toISOString(),
      last_error: record.lastError,
      paused_until: isPaused ? pausedUntil.toISOString() : undefined,
      dead_last_day: record.deadLastDay,
      created_by: record.createdBy,
      created_at: record.createdAt.toISOString(),
      updated_at: record.updatedAt.toISOString(),
    };
  }
}

export class ChangedNotificationChannelDto extends NotificationChannelDto {
  @Text({
    optional: true,
    description: 'The secret, when the service made it in this change: it is shown this once.',
    example: SECRET_EXAMPLE,
  })
  readonly secret?: string;

  static override from(this: void, changed: ChangedChannel): ChangedNotificationChannelDto {
    return { ...NotificationChannelDto.from(changed), secret: changed.madeSecret };
  }
}

export class NotificationChannelTypeDto {
  @Text({ example: 'webhook' })
  readonly name: string;

  @Text({ example: 'Any service that takes webhooks.' })
  readonly description: string;

  @JsonObject({
    description: 'JSON Schema of `config`. What is writeOnly there is a secret.',
    example: {
      type: 'object',
      properties: { url: { type: 'string', format: 'uri-with-query' } },
      required: ['url'],
    },
  })
  readonly config_schema: ConfigSchema;

  static from(this: void, type: ChannelType): NotificationChannelTypeDto {
    const { name, description, requestConfig } = type;
    return { name, description, config_schema: requestConfig };
  }
}

export class NotificationTestDto {
  @Flag({ example: true })
  readonly success: boolean;

  @Text({ example: 'The message is delivered.' })
  readonly message: string;

  @WholeNumber({ min: 0, example: 42 })
  readonly latency_ms: number;

  static from(this: void, { success, message, latencyMs }: TestResult): NotificationTestDto {
    return { success, message, latency_ms: latencyMs };
  }
}
