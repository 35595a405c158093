import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Config } from '../targets/target-config.js';
import { RowTimes } from '../platform/database/columns.js';

const CHECKED_STATUSES = ['healthy', 'degraded', 'unhealthy'] as const;
export type CheckedStatus = (typeof CHECKED_STATUSES)[number];

export const CONNECTOR_STATUSES = [...CHECKED_STATUSES, 'disabled'] as const;
export type ConnectorStatus = (typeof CONNECTOR_STATUSES)[number];

export const DEFAULT_PRIORITY = 100;

/** A connector that was never checked is not shown as healthy. */
export function statusOf({
  enabled,
  health,
}: Pick<ConnectorEntity, 'enabled' | 'health'>): ConnectorStatus {
  return enabled ? (health ?? 'degraded') : 'disabled';
}

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

  /** Sealed secrets; null if there are none. */
  @Column({ type: 'text', nullable: true })
  readonly secrets: string | null;

  /** Names of the secrets that are set, such as `secrets.token`. */
  @Column({ type: 'text', array: true, default: [] })
  readonly secret_names: string[];

  @Column({ type: 'integer', default: 1 })
  readonly version: number;

  /** Result of the last check, like the next three columns; null before the first check. */
  @Column({ type: 'text', nullable: true })
  readonly health: CheckedStatus | null;

  @Column({ type: 'text', nullable: true })
  readonly health_message: string | null;

  @Column({ type: 'integer', nullable: true })
  readonly latency_ms: number | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_checked_at: Date | null;

  /** Time at which the failure was reported; null if no failure is reported. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly unhealthy_told_at: Date | null;
}
