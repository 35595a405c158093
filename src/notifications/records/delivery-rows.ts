import type { NewWork } from '../../platform/work/kind.js';
import type { ClaimedDelivery, Delivery } from '../delivery.js';
import type { NotificationDeliveryEntity } from './notification-delivery.entity.js';

/** The kind of work that delivers. Each channel has a lane. */
export const NOTIFICATION = 'notification';

export const laneOf = (channelId: string): string => `${NOTIFICATION}.${channelId}`;

type StoredRow = Omit<NotificationDeliveryEntity, 'position' | 'held_until'>;
export type DeliveryRow = StoredRow & { readonly next_attempt_at: Date };

const STORED = [
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
  'urgency',
  'expires_at',
  'last_error',
  'ended_at',
  'group_key',
  'carried_by',
  'holders',
  'partial_attempts',
] as const satisfies (keyof StoredRow)[];

/** Columns of a delivery, with what its work knows. */
export const deliveryColumns = (row: string): string => {
  const ofWork = (expression: string) =>
    `(select ${expression} from work where kind = '${NOTIFICATION}' and ref = ${row}.id)`;
  return [
    ...STORED.map((column) => `${row}.${column}`),
    `coalesce(${ofWork('attempts')}, ${row}.attempts) as attempts`,
    `coalesce(${ofWork(`case when due_at < 'infinity' and (ready or worker is null) then due_at end`)}, ${row}.occurred_at)
       as next_attempt_at`,
  ].join(', ');
};

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
    nextAttemptAt: row.next_attempt_at,
    expiresAt: row.expires_at,
    lastError: row.last_error ?? undefined,
    endedAt: row.ended_at ?? undefined,
    groupKey: row.group_key ?? undefined,
    carriedBy: row.carried_by ?? undefined,
  };
}

export interface LoadedRow extends DeliveryRow {
  readonly left_ms: number;
  /** How long it waits for others that are alike. */
  readonly held_ms: number | null;
  readonly has_carried: boolean;
}

export function claimedOf(row: LoadedRow): ClaimedDelivery {
  const { left_ms: leftMs, holders, partial_attempts: attempts } = row;
  return { ...deliveryOf(row), leftMs, partlySent: { holders, attempts } };
}

/** Deliveries about the same incident or subject form a line, so that "recovered" never arrives before "unhealthy". */
export function workOf(row: StoredRow): NewWork {
  const about = (row.incident_id ?? row.subject_id).slice(0, 100);
  const { id: ref, channel_id: channel, urgency } = row;
  return { ref, lane: laneOf(channel), line: `${channel} ${about}`, urgency };
}
