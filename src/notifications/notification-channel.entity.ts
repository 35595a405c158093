import { Check, Column, Entity, Index, PrimaryColumn, VirtualColumn } from 'typeorm';
import type { Severity } from '../incidents/incident.js';
import { TargetRow } from '../targets/target-rows.js';
import type { Changed } from '../targets/targets-service.js';
import type { Audience } from './channel-type.js';
import type { NotifiedEvent } from './notification.js';

export const CHANNEL_STATUSES = ['healthy', 'degraded', 'unhealthy', 'disabled'] as const;
export type ChannelStatus = (typeof CHANNEL_STATUSES)[number];

export function channelStatusOf(channel: NotificationChannelEntity): ChannelStatus {
  if (!channel.enabled) return 'disabled';
  if (!channel.failing_since) return 'healthy';
  return channel.unhealthy_reported_at ? 'unhealthy' : 'degraded';
}

export const WORKING = { failures: 0, failing_since: null, last_error: null };

const laneColumn = (column: string) => (channel: string) =>
  `select ${column} from work_lanes where lane = 'notification.' || ${channel}.id`;

@Entity('notification_channels')
@Check('ck_notification_channels_audience', `audience in ('people', 'pager', 'programs')`)
@Check('ck_notification_channels_severity', `min_severity in ('low', 'medium', 'high', 'critical')`)
@Check(
  'ck_notification_channels_new_severity',
  `new_incident_min_severity in ('low', 'medium', 'high', 'critical')`,
)
@Check('ck_notification_channels_failing', `failures = 0 or failing_since is not null`)
@Check(
  'ck_notification_channels_deleted',
  `deleted_at is null or (secrets is null and former_secret is null and not enabled and config = '{}')`,
)
@Index('uq_notification_channels_name', ['name'], { unique: true, where: 'deleted_at is null' })
export class NotificationChannelEntity extends TargetRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_notification_channels' })
  readonly id: string;

  @Column({ type: 'text' })
  readonly audience: Audience;

  @Column({ type: 'text', array: true })
  readonly events: NotifiedEvent[];

  @Column({ type: 'text' })
  readonly min_severity: Severity;

  @Column({ type: 'text', nullable: true })
  readonly new_incident_min_severity: Severity | null;

  @Column({ type: 'text', nullable: true })
  readonly former_secret: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly former_secret_until: Date | null;

  /** Failures since the last success. Concurrent failures count once, and requests for a lower rate do not count. */
  @Column({ type: 'integer', default: 0 })
  readonly failures: number;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly failing_since: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly last_error: string | null;

  @VirtualColumn({ type: 'timestamptz', query: laneColumn('paused_until') })
  readonly paused_until: Date | null;

  /** End of sending one delivery at a time. Infinity if the channel fails, a time if the receiver requested a lower rate. */
  @VirtualColumn({ type: 'timestamptz', query: laneColumn('narrow_until') })
  readonly narrow_until: Date | number | null;

  @Column({ type: 'text' })
  readonly created_by: string;

  @VirtualColumn({
    type: 'integer',
    query: (channel) =>
      `select count(*)::integer from (
         select from notification_deliveries
          where channel_id = ${channel}.id and status = 'dead' and ended_at > now() - interval '1 day' limit 1000) as dead`,
  })
  readonly dead_last_day: number;
}

export type ShownChannel = Changed<NotificationChannelEntity>;
