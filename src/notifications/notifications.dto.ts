import { IntersectionType, PartialType, PickType } from '@nestjs/swagger';
import { SEVERITIES, type Severity } from '../incidents/incident.js';
import { presentTime } from '../platform/clock.js';
import { sortWords, PageQueryDto } from '../platform/paging/page.js';
import {
  Choice,
  Flag,
  Id,
  Instant,
  Nested,
  NullIsAbsent,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';
import { present } from '../platform/validation/present.js';
import { Words } from '../platform/validation/query-fields.js';
import {
  ShownTarget,
  ShownType,
  TargetInput,
  TargetTest,
  TargetUpdate,
} from '../targets/target-contract.js';
import type { Changed } from '../targets/targets-service.js';
import { CHANNEL_STATUSES, ChannelEntity, type ChannelStatus, channelStatusOf } from './channel.js';
import {
  type Delivery,
  DELIVERY_STATUSES,
  type DeliveryStatus,
  MAX_REDELIVERED,
} from './delivery.js';

const SUBSCRIPTION = ['events', 'min_severity', 'new_incident_min_severity'] as const;

class SubscriptionChangeDto extends PartialType(PickType(ChannelEntity, SUBSCRIPTION)) {}

@NullIsAbsent()
export class NotificationChannelInputDto extends IntersectionType(
  TargetInput,
  SubscriptionChangeDto,
) {
  @Choice('Severity', SEVERITIES, { optional: true, default: 'low' })
  override readonly min_severity?: Severity;
}

@NullIsAbsent()
export class NotificationChannelUpdateDto extends IntersectionType(
  TargetUpdate,
  SubscriptionChangeDto,
) {
  @Flag({
    optional: true,
    description:
      'Generates a new signing secret and returns it once. For 24 hours messages also have a signature with the previous secret.',
  })
  readonly rotate_secret?: boolean;

  @Flag({ optional: true, description: 'Revokes the previous signing secret immediately.' })
  readonly revoke_old_secret?: boolean;
}

export class NotificationChannelDto extends IntersectionType(
  ShownTarget,
  PickType(ChannelEntity, [
    ...SUBSCRIPTION,
    'failing_since',
    'last_error',
    'paused_until',
    'dead_last_day',
    'created_by',
  ]),
) {
  @Id('NotificationChannelId')
  readonly id: string;

  @Instant({ optional: true, description: 'End of the signatures with the previous secret.' })
  readonly old_secret_valid_until?: Date;

  @Choice('ComponentStatus', CHANNEL_STATUSES, {
    description:
      'healthy: the last attempt succeeded. degraded: the last attempt failed. unhealthy: all attempts of the last ten minutes failed, and the other channels were notified.',
  })
  readonly status: ChannelStatus;
}

export class ChangedNotificationChannelDto extends NotificationChannelDto {
  @Text({ optional: true, description: 'Secret that this change generated, shown only once.' })
  readonly secret?: string;
}

export function shownChannel(row: Changed<ChannelEntity>): ChangedNotificationChannelDto {
  const now = presentTime();
  const ifAhead = (time: Date | null) => (time && time.getTime() > now ? time : null);
  return present(ChangedNotificationChannelDto)({
    ...row,
    secrets_set: row.secret_names,
    old_secret_valid_until: ifAhead(row.former_secret_until),
    status: channelStatusOf(row),
    paused_until: ifAhead(row.paused_until),
  });
}

export class NotificationChannelTypeDto extends ShownType {}

export class NotificationTestDto extends TargetTest {}

const SORTS = sortWords('created_at');

export class DeliveryQueryDto extends PageQueryDto {
  @Words('NotificationDeliveryStatus', DELIVERY_STATUSES, { optional: true, example: ['dead'] })
  readonly status?: readonly DeliveryStatus[];

  @Choice('NotificationDeliverySort', SORTS, { optional: true, default: '-created_at' })
  readonly sort: (typeof SORTS)[number] = '-created_at';
}

export class DeadDeliveriesDto {
  @Instant({ description: 'Deliveries that died at this time or later.' })
  readonly since: string;
}

export class RedeliveredDeliveriesDto {
  @WholeNumber({ min: 0, max: MAX_REDELIVERED, description: 'Deliveries that become pending.' })
  readonly redelivered: number;
}

export class DeliverySubjectDto {
  @Text()
  readonly type: string;

  @Text()
  readonly id: string;
}

export class NotificationDeliveryDto {
  @Id('NotificationDeliveryId')
  readonly id: string;

  @Id('NotificationEventId', { description: 'The `id` of the event, and the `webhook-id`.' })
  readonly event_id: string;

  @Text({ description: 'Name of the event. New names may be added.' })
  readonly event: string;

  @Nested(() => DeliverySubjectDto, { description: 'Resource that the event is about.' })
  readonly subject: DeliverySubjectDto;

  @Choice('NotificationDeliveryStatus', DELIVERY_STATUSES, {
    description:
      'pending: attempts continue for a day. delivered: the receiver has the message. dead: the receiver refused the message, or the day is over.',
  })
  readonly status: DeliveryStatus;

  @WholeNumber({ min: 0, description: 'Attempts since the event or since the last redelivery.' })
  readonly attempts: number;

  @Text({
    optional: true,
    description:
      'Reason why the last attempt failed, or why the delivery ended without being sent.',
  })
  readonly last_error?: string;

  @Instant({ description: 'Time of the event.' })
  readonly created_at: Date;

  @Instant({ optional: true, description: 'Earliest next attempt. A pause delays the attempt.' })
  readonly next_attempt_at?: Date;

  @Instant({
    optional: true,
    description: 'An attempt that fails after this time is the last attempt.',
  })
  readonly expires_at?: Date;

  @Instant({ optional: true, description: 'Time at which the status became delivered or dead.' })
  readonly ended_at?: Date;

  @Id('NotificationDeliveryId', {
    optional: true,
    description:
      'Delivery whose message contains this delivery. Absent if this delivery has its own message.',
  })
  readonly carried_by?: string;
}

export function shownDelivery(row: Delivery): NotificationDeliveryDto {
  const ended = row.status === 'pending' ? {} : { next_attempt_at: null, expires_at: null };
  return present(NotificationDeliveryDto)({
    ...row,
    ...ended,
    event: row.type,
    subject: { type: row.subject_type, id: row.subject_id },
    created_at: row.occurred_at,
  });
}
