import { Check, Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import { EventColumns } from '../../platform/database/columns.js';
import type { DeliveryStatus } from '../delivery.js';

/** One event for one channel. A trigger writes it with the event. */
@Entity('notification_deliveries')
@Check('ck_notification_deliveries_status', `status in ('pending', 'delivered', 'dead')`)
@Check('ck_notification_deliveries_ended', `(ended_at is null) = (status = 'pending')`)
@Unique('uq_notification_deliveries_event', ['channel_id', 'event_id'])
@Index('ix_notification_deliveries_channel', ['channel_id', 'status', 'id'])
@Index('ix_notification_deliveries_incident', ['channel_id', 'incident_id'], {
  where: 'incident_id is not null',
})
@Index('ix_notification_deliveries_expiry', ['expires_at'], { where: `status = 'pending'` })
@Index('ix_notification_deliveries_group', ['channel_id', 'group_key', 'occurred_at'], {
  where: 'group_key is not null',
})
@Index('ix_notification_deliveries_carried', ['carried_by'], {
  where: 'carried_by is not null',
})
@Index('ix_notification_deliveries_dead', ['channel_id', 'ended_at'], {
  where: `status = 'dead'`,
})
export class NotificationDeliveryEntity extends EventColumns {
  /** Begins with the time of the event. */
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_notification_deliveries' })
  readonly id: string;

  /** The order of writing. */
  @Column({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS' })
  readonly position: string;

  @Column({ type: 'uuid' })
  readonly channel_id: string;

  @Column({ type: 'uuid' })
  readonly event_id: string;

  /** Of the incident that the event is about. */
  @Column({ type: 'uuid', nullable: true })
  readonly incident_id: string | null;

  /** 0 is the most urgent: the kill switch and approvals. Then by severity, from 1 (critical) to 4 (low). */
  @Column({ type: 'smallint', default: 2 })
  readonly urgency: number;

  /** New incidents with the same key are alike; null where each delivery is a message of its own. */
  @Column({ type: 'text', nullable: true })
  readonly group_key: string | null;

  /** Until then it waits for others that are alike, unless something else about its incident goes out. */
  @Column({ type: 'timestamptz', nullable: true })
  readonly held_until: Date | null;

  /** The delivery whose message has this one in it. */
  @Column({ type: 'uuid', nullable: true })
  readonly carried_by: string | null;

  /** The recipients of a mail who have it while others do not. Empty when the delivery ends. */
  @Column({ type: 'text', array: true, default: [] })
  readonly holders: string[];

  /** The number of attempts that left some recipients without the mail. */
  @Column({ type: 'smallint', default: 0 })
  readonly partial_attempts: number;

  @Column({ type: 'text', collation: 'C', default: 'pending' })
  readonly status: DeliveryStatus;

  /** Until the end only whether the delivery of a group was attempted: its work counts the attempts. */
  @Column({ type: 'integer', default: 0 })
  readonly attempts: number;

  /** An attempt that fails after it was the last. */
  @Column({ type: 'timestamptz' })
  readonly expires_at: Date;

  @Column({ type: 'text', nullable: true })
  readonly last_error: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly ended_at: Date | null;
}
