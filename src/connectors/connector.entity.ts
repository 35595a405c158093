import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Config } from './config/config-schema.js';
import { RowTimes } from '../platform/database/row-times.js';
import type { CheckedStatus } from './connector.js';

@Entity('connectors')
@Check('ck_connectors_health', `health in ('healthy', 'degraded', 'unhealthy')`)
@Check('ck_connectors_deleted', `deleted_at is null or (secrets is null and not enabled)`)
@Index('uq_connectors_name', ['name'], { unique: true, where: 'deleted_at is null' })
export class ConnectorEntity extends RowTimes {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_connectors' })
  readonly id: string;

  @Column({ type: 'text' })
  readonly name: string;

  @Column({ type: 'text' })
  readonly type: string;

  @Column({ type: 'boolean' })
  readonly enabled: boolean;

  @Column({ type: 'integer' })
  readonly priority: number;

  /** Without its secrets. */
  @Column({ type: 'jsonb' })
  readonly config: Config;

  /** Sealed with the service's key; null when there are none. */
  @Column({ type: 'text', nullable: true })
  readonly secrets: string | null;

  /** Which secrets are set, such as `secrets.token`. */
  @Column({ type: 'text', array: true, default: [] })
  readonly secret_names: string[];

  @Column({ type: 'integer', default: 1 })
  readonly version: number;

  /** What the last check found, like the three columns after it; null before the first check. */
  @Column({ type: 'text', nullable: true })
  readonly health: CheckedStatus | null;

  @Column({ type: 'text', nullable: true })
  readonly health_message: string | null;

  @Column({ type: 'integer', nullable: true })
  readonly latency_ms: number | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_checked_at: Date | null;

  /** When others were told that it does not work; null when they were not, or were told that it works again. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly unhealthy_told_at: Date | null;
}
