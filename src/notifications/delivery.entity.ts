import { Check, Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import { EventColumns } from '../platform/database/columns.js';
import type { NewWork } from '../platform/work/kind.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One event for one channel, inserted by a trigger. migrations/first-schema/10-notifications.sql explains the columns. */
@Entity('notification_deliveries')
@Check('ck_notification_deliveries_status', `status in ('pending', 'delivered', 'dead')`)
@Check('ck_notification_deliveries_ended', `(ended_at is null) = (status = 'pending')`)
@Unique('uq_notification_deliveries_event', ['channel_id', 'event_id'])
@Index('ix_notification_deliveries_channel', ['channel_id', 'status', 'id'])
@Index('ix_notification_deliveries_incident', ['channel_id', 'incident_id'], {
  where: 'incident_id is not null',
})
@Index('ix_notification_deliveries_group', ['channel_id', 'group_key', 'occurred_at'], {
  where: 'group_key is not null',
})
@Index('ix_notification_deliveries_carried', ['carried_by'], { where: 'carried_by is not null' })
@Index('ix_notification_deliveries_dead', ['channel_id', 'ended_at'], { where: `status = 'dead'` })
export class NotificationDeliveryEntity extends EventColumns {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_notification_deliveries' })
  readonly id: string;

  @Column({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS' })
  readonly position: string;

  @Column({ type: 'uuid' })
  readonly channel_id: string;

  @Column({ type: 'uuid' })
  readonly event_id: string;

  @Column({ type: 'uuid', nullable: true })
  readonly incident_id: string | null;

  @Column({ type: 'smallint', default: 2 })
  readonly urgency: number;

  @Column({ type: 'text', nullable: true })
  readonly group_key: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  readonly held_until: Date | null;

  @Column({ type: 'uuid', nullable: true })
  readonly carried_by: string | null;

  @Column({ type: 'text', array: true, default: [] })
  readonly holders: readonly string[];

  @Column({ type: 'text', collation: 'C', default: 'pending' })
  readonly status: DeliveryStatus;

  @Column({ type: 'integer', default: 0 })
  readonly attempts: number;

  @Column({ type: 'timestamptz' })
  readonly expires_at: Date;

  @Column({ type: 'text', nullable: true })
  readonly last_error: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly ended_at: Date | null;
}

export interface Delivery extends NotificationDeliveryEntity {
  readonly next_attempt_at: Date;
}

export const MAX_ERROR = 500;

export const NOTIFICATION = { name: 'notification' } as const;

export const laneOf = (channelId: string): string => `${NOTIFICATION.name}.${channelId}`;

/** Deliveries about the same incident or subject form a line, so that "recovered" never arrives before "unhealthy". */
export function workOf(row: NotificationDeliveryEntity): NewWork {
  const about = (row.incident_id ?? row.subject_id).slice(0, 100);
  const { id: ref, channel_id, urgency } = row;
  return { ref, lane: laneOf(channel_id), line: `${channel_id} ${about}`, urgency };
}
