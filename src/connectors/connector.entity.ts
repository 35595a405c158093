import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TargetRow } from '../targets/target-rows.js';

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
export class ConnectorEntity extends TargetRow {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_connectors' })
  readonly id: string;

  @Column({ type: 'integer' })
  readonly priority: number;

  /** Result of the last check, like the next three columns; null before the first check. */
  @Column({ type: 'text', nullable: true })
  readonly health: CheckedStatus | null;

  @Column({ type: 'text', nullable: true })
  readonly health_message: string | null;

  @Column({ type: 'integer', nullable: true })
  readonly latency_ms: number | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_checked_at: Date | null;
}
