import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('kill_switch')
@Check('ck_kill_switch_only_row', 'only_row')
@Check(
  'ck_kill_switch_active',
  `not active or
    (reason is not null and activated_by is not null and activated_at is not null and deactivated_at is null)`,
)
export class KillSwitchEntity {
  @PrimaryColumn({
    type: 'boolean',
    default: true,
    primaryKeyConstraintName: 'pk_kill_switch',
  })
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
