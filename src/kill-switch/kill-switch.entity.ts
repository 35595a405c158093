import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('kill_switch')
export class KillSwitchEntity {
  @PrimaryColumn({ type: 'boolean', default: true })
  readonly only_row: boolean;

  @Column({ type: 'boolean', default: false })
  readonly active: boolean;

  @Column({ type: 'text', nullable: true })
  readonly reason: string | null;

  @Column({ type: 'text', nullable: true })
  readonly activated_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly activated_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly deactivated_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly deactivated_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly deactivation_reason: string | null;
}
