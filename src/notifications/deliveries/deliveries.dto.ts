import { sortWords } from '../../platform/paging/page.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import {
  Choice,
  Id,
  Instant,
  Nested,
  Text,
  WholeNumber,
} from '../../platform/validation/fields.js';
import { Words } from '../../platform/validation/query-fields.js';
import {
  type Delivery,
  DELIVERY_STATUSES,
  type DeliveryListRequest,
  type DeliveryStatus,
} from '../delivery.js';
import { MOST_AT_ONCE } from './deliveries.service.js';

const SORTS = sortWords('created_at');

export class DeliveryQueryDto extends PageQueryDto {
  @Words('NotificationDeliveryStatus', DELIVERY_STATUSES, { optional: true, example: ['dead'] })
  readonly status?: readonly DeliveryStatus[];

  @Choice('NotificationDeliverySort', SORTS, { optional: true, default: '-created_at' })
  readonly sort: (typeof SORTS)[number] = '-created_at';

  static toRequest(this: void, channelId: string, query: DeliveryQueryDto): DeliveryListRequest {
    const { page, per_page, status, sort } = query;
    return { page, per_page, channelId, statuses: status, descending: sort === '-created_at' };
  }
}

export class DeadDeliveriesDto {
  @Instant({
    description: 'Those that were given up at this time or later.',
    example: '2026-01-31T00:00:00.000Z',
  })
  readonly since: string;
}

export class RedeliveredDeliveriesDto {
  @WholeNumber({ min: 0, max: MOST_AT_ONCE, description: 'How many are tried again.', example: 12 })
  readonly redelivered: number;

  static from(this: void, redelivered: number): RedeliveredDeliveriesDto {
    return { redelivered };
  }
}

export class DeliverySubjectDto {
  @Text({ example: 'incident' })
  readonly type: string;

  @Text({ example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4f' })
  readonly id: string;
}

export class NotificationDeliveryDto {
  @Id('NotificationDeliveryId')
  readonly id: string;

  @Id('NotificationEventId', {
    description: 'The `id` of the event, and the `webhook-id` of a webhook.',
  })
  readonly event_id: string;

  @Text({ description: 'The name of the event. An open set.', example: 'incident.created' })
  readonly event: string;

  @Nested(() => DeliverySubjectDto, { description: 'What the event is about.' })
  readonly subject: DeliverySubjectDto;

  @Choice('NotificationDeliveryStatus', DELIVERY_STATUSES, {
    description:
      'pending: it is tried, for a day. delivered: the receiver has it. dead: the receiver refused it, or the day is over.',
    example: 'pending',
  })
  readonly status: DeliveryStatus;

  @WholeNumber({
    min: 0,
    example: 3,
    description: 'How often it was tried since it was made, or since somebody last asked for it.',
  })
  readonly attempts: number;

  @Text({
    optional: true,
    description: 'Why its last attempt failed, or why it is delivered without being sent.',
  })
  readonly last_error?: string;

  @Instant({ description: 'When the event happened.', example: '2026-11-02T09:00:00.000Z' })
  readonly created_at: string;

  @Instant({
    optional: true,
    description:
      'Not tried before; later where its channel waits after failures, or where an earlier event of the incident is still tried.',
  })
  readonly next_attempt_at?: string;

  @Instant({ optional: true, description: 'An attempt that fails after it is the last.' })
  readonly expires_at?: string;

  @Instant({ optional: true, description: 'When it was delivered, or given up.' })
  readonly ended_at?: string;

  @Id('NotificationDeliveryId', {
    optional: true,
    description:
      'The delivery whose message has this one in it: new incidents that are alike are one message for people. Absent where it is a message of its own.',
    example: undefined,
  })
  readonly carried_by?: string;

  static from(this: void, delivery: Delivery): NotificationDeliveryDto {
    const { type, id } = delivery.subject;
    const isPending = delivery.status === 'pending';
    return {
      id: delivery.id,
      event_id: delivery.eventId,
      event: delivery.type,
      subject: { type, id },
      status: delivery.status,
      attempts: delivery.attempts,
      last_error: delivery.lastError,
      created_at: delivery.occurredAt.toISOString(),
      next_attempt_at: isPending ? delivery.nextAttemptAt.toISOString() : undefined,
      expires_at: isPending ? delivery.expiresAt.toISOString() : undefined,
      ended_at: delivery.endedAt?.toISOString(),
      carried_by: delivery.carriedBy,
    };
  }
}
