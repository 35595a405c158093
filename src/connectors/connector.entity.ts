import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ComponentStatus } from '../platform/health-components.js';
import { TargetRow } from '../targets/target-rows.js';

export const DEFAULT_PRIORITY = 100;

@Entity('connectors')
export class ConnectorEntity extends TargetRow {
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'integer' })
  readonly priority: number;

  /** Result of the last check, like the next three columns; null before the first check. */
  @Column({ type: 'text', nullable: true })
  readonly health: Exclude<ComponentStatus, 'disabled'> | null;

  @Column({ type: 'text', nullable: true })
  readonly health_message: string | null;

  @Column({ type: 'integer', nullable: true })
  readonly latency_ms: number | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_checked_at: Date | null;
}
