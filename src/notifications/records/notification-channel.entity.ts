import { Check, Column, Entity, Index, PrimaryColumn, VirtualColumn } from 'typeorm';
import type { Config } from '../../targets/target-config.js';
import type { Severity } from '../../incidents/incident.js';
import { RowTimes } from '../../platform/database/columns.js';
import type { NotifiedEvent } from '../notification.js';

const laneColumn = (column: string) => (channel: string) =>
  `select ${column} from work_lanes where lane = 'notification.' || ${channel}.id`;

@Entity('notification_channels')
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
@Index('uq_notification_channels_name', ['name_key'], {
  unique: true,
  where: 'deleted_at is null',
})
export class NotificationChannelEntity extends RowTimes {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_notification_channels' })
  readonly id: string;

  @Column({ type: 'text' })
  readonly name: string;

  /** The name as it is compared (channel-name.ts). */
  @Column({ type: 'text' })
  readonly name_key: string;

  @Column({ type: 'text' })
  readonly type: string;

  @Column({ type: 'boolean' })
  readonly enabled: boolean;

  @Column({ type: 'text', array: true })
  readonly events: NotifiedEvent[];

  @Column({ type: 'text' })
  readonly min_severity: Severity;

  /** Of new incidents and of severities that are raised; null where min_severity alone decides. */
  @Column({ type: 'text', nullable: true })
  readonly new_incident_min_severity: Severity | null;

  /** Without its secrets. */
  @Column({ type: 'jsonb' })
  readonly config: Config;

  /** Sealed with the service's key; null when there are none. */
  @Column({ type: 'text', nullable: true })
  readonly secrets: string | null;

  @Column({ type: 'text', array: true, default: [] })
  readonly secret_names: string[];

  /** The secret before the present one, sealed, as long as it is valid. */
  @Column({ type: 'text', nullable: true })
  readonly former_secret: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly former_secret_until: Date | null;

  /** Counts the changes that people make. */
  @Column({ type: 'integer', default: 1 })
  readonly version: number;

  /** Attempts that failed since the last delivery, but for those that only came too fast. */
  @Column({ type: 'integer', default: 0 })
  readonly failures: number;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly failing_since: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly last_error: string | null;

  /** No attempt before. A column of the lane of the channel, as the next one. */
  @VirtualColumn({ type: 'timestamptz', query: laneColumn('paused_until') })
  readonly paused_until: Date | null;

  /** One delivery at a time until then: while the channel fails, or because the receiver asked for it. */
  @VirtualColumn({ type: 'timestamptz', query: laneColumn('narrow_until') })
  readonly narrow_until: Date | number | null;

  /** Since then it counts as failing for long. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly unhealthy_since: Date | null;

  /** When the others were told of that; null when they were not, or were told that it works again. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly unhealthy_told_at: Date | null;

  @Column({ type: 'text' })
  readonly created_by: string;
}
