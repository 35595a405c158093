import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { ReachedStatus } from '../playbook-run.js';
import { PlaybookRunEntity } from './playbook-run.entity.js';

@Entity('playbook_run_steps')
@Check(
  'ck_playbook_run_steps_status',
  `status in ('running', 'waiting_approval', 'completed', 'failed', 'skipped', 'cancelled')`,
)
@Check(
  'ck_playbook_run_steps_ended',
  `(completed_at is null) = (status in ('running', 'waiting_approval'))`,
)
@Check('ck_playbook_run_steps_action', `action_id is not null or status in ('failed', 'skipped')`)
@Index('ix_playbook_run_steps_action', ['action_id'])
@Index('ix_playbook_run_steps_failed', ['completed_at'], {
  where: `status = 'failed' and action_id is null`,
})
@Index('ix_playbook_run_steps_open', ['run_id'], { where: 'completed_at is null' })
export class PlaybookRunStepEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_playbook_run_steps' })
  @ForeignKey(() => PlaybookRunEntity, { name: 'fk_playbook_run_steps_run' })
  readonly run_id: string;

  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'pk_playbook_run_steps' })
  readonly position: number;

  @Column({ type: 'text', collation: 'C' })
  readonly name: string;

  @Column({ type: 'text', collation: 'C' })
  readonly status: ReachedStatus;

  /** Steps of several runs may wait for one action. */
  @Column({ type: 'uuid', nullable: true })
  @ForeignKey('actions', { name: 'fk_playbook_run_steps_action' })
  readonly action_id: string | null;

  @Column({ type: 'text', nullable: true })
  readonly error: string | null;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly started_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly completed_at: Date | null;
}
