import { sortWords } from '../platform/paging/page.js';
import { PageQueryDto } from '../platform/paging/page-query.dto.js';
import { Choice, Id, Instant, Nested, Text, WholeNumber } from '../platform/validation/fields.js';
import { present } from '../platform/validation/present.js';
import { Words } from '../platform/validation/query-fields.js';
import { MAX_REDELIVERED } from './deliveries.service.js';
import { type Delivery, DELIVERY_STATUSES, type DeliveryStatus } from './delivery.entity.js';

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
  @WholeNumber({
    min: 0,
    max: MAX_REDELIVERED,
    description: 'Number of deliveries that are attempted again.',
  })
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

  @Id('NotificationEventId', {
    description: 'The `id` of the event, and the `webhook-id` of a webhook.',
  })
  readonly event_id: string;

  @Text({ description: 'Name of the event. New names may be added.' })
  readonly event: string;

  @Nested(() => DeliverySubjectDto, { description: 'Resource that the event is about.' })
  readonly subject: DeliverySubjectDto;

  @Choice('NotificationDeliveryStatus', DELIVERY_STATUSES, {
    description:
      'pending: attempted for a day. delivered: the receiver has it. dead: the receiver refused it, or the day is over.',
  })
  readonly status: DeliveryStatus;

  @WholeNumber({
    min: 0,
    description: 'Attempts since the event or since the last redelivery.',
  })
  readonly attempts: number;

  @Text({
    optional: true,
    description: 'Reason of the last failure, or why the delivery ended without being sent.',
  })
  readonly last_error?: string;

  @Instant({ description: 'Time of the event.' })
  readonly created_at: Date;

  @Instant({
    optional: true,
    description:
      'Earliest next attempt. It is later if the channel is paused, or while an earlier event of the incident is attempted.',
  })
  readonly next_attempt_at?: Date;

  @Instant({ optional: true, description: 'An attempt that fails later is the last.' })
  readonly expires_at?: Date;

  @Instant({ optional: true, description: 'Time at which it was delivered or died.' })
  readonly ended_at?: Date;

  @Id('NotificationDeliveryId', {
    optional: true,
    description:
      'Delivery whose message contains this one: people get one message about similar new incidents. Absent if this delivery has a message of its own.',
  })
  readonly carried_by?: string;
}

const presentDelivery = present(NotificationDeliveryDto);

export function shownDelivery(row: Delivery): NotificationDeliveryDto {
  const ended = row.status === 'pending' ? {} : { next_attempt_at: null, expires_at: null };
  return presentDelivery({
    ...row,
    ...ended,
    event: row.type,
    subject: { type: row.subject_type, id: row.subject_id },
    created_at: row.occurred_at,
  });
}
