import type { ClaimedDelivery, Delivery } from '../delivery.js';
import type { NotificationDeliveryEntity } from './notification-delivery.entity.js';

/** What only statements look at is not read. */
export type DeliveryRow = Omit<
  NotificationDeliveryEntity,
  'position' | 'lease_until' | 'urgency' | 'held_until'
>;

export const DELIVERY_COLUMNS = [
  'id',
  'channel_id',
  'event_id',
  'type',
  'subject_type',
  'subject_id',
  'payload',
  'occurred_at',
  'incident_id',
  'status',
  'attempts',
  'fence',
  'due_at',
  'expires_at',
  'last_error',
  'ended_at',
  'group_key',
  'carried_by',
  'holders',
  'partial_attempts',
] as const satisfies (keyof DeliveryRow)[];

export function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    channelId: row.channel_id,
    eventId: row.event_id,
    type: row.type,
    subject: { type: row.subject_type, id: row.subject_id },
    payload: row.payload as Readonly<Record<string, unknown>>,
    occurredAt: row.occurred_at,
    incidentId: row.incident_id ?? undefined,
    status: row.status,
    attempts: row.attempts,
    dueAt: row.due_at,
    expiresAt: row.expires_at,
    lastError: row.last_error ?? undefined,
    endedAt: row.ended_at ?? undefined,
    groupKey: row.group_key ?? undefined,
    carriedBy: row.carried_by ?? undefined,
  };
}

export type ClaimedRow = DeliveryRow & { readonly left_ms: number };

export function claimedOf(row: ClaimedRow): ClaimedDelivery {
  const { fence, left_ms: leftMs, holders, partial_attempts: attempts } = row;
  return { ...deliveryOf(row), fence, leftMs, partlySent: { holders, attempts } };
}
