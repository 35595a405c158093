import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { IncidentAtStart, PlaybookRunStatus, ReachedStatus } from '../playbook-run.js';

@Entity('playbook_runs')
@ForeignKey('playbook_versions', ['playbook_id', 'playbook_version'], ['playbook_id', 'version'], {
  name: 'fk_playbook_runs_version',
})
@Check(
  'ck_playbook_runs_status',
  `status in ('running', 'waiting_approval', 'completed', 'failed', 'cancelled')`,
)
@Check(
  'ck_playbook_runs_ended',
  `(completed_at is not null) = (status in ('completed', 'failed', 'cancelled'))`,
)
@Check('ck_playbook_runs_rests', `completed_at is null or (due_at is null and lease_until is null)`)
@Index('ix_playbook_runs_playbook', ['playbook_id', 'id'])
@Index('ix_playbook_runs_playbook_status', ['playbook_id', 'status', 'id'])
@Index('ix_playbook_runs_incident', ['incident_id', 'id'], { where: 'incident_id is not null' })
@Index('ix_playbook_runs_due', ['due_at'], { where: 'due_at is not null' })
@Index('ix_playbook_runs_starts', ['playbook_id', 'starts_at'], {
  where: 'starts_at is not null',
})
@Index('ix_playbook_runs_status', ['status', 'id'])
@Index(
  'uq_playbook_runs_automatic',
  ['incident_id', 'playbook_id', 'playbook_version', 'classification'],
  { unique: true, where: 'automatic and not void' },
)
export class PlaybookRunEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_playbook_runs' })
  readonly id: string;

  @Column({ type: 'uuid' })
  readonly playbook_id: string;

  @Column({ type: 'integer' })
  readonly playbook_version: number;

  @Column({ type: 'text', collation: 'C' })
  readonly playbook_name: string;

  @Column({ type: 'uuid', nullable: true })
  @ForeignKey('incidents', { name: 'fk_playbook_runs_incident' })
  readonly incident_id: string | null;

  @Column({ type: 'text', collation: 'C' })
  readonly status: PlaybookRunStatus;

  @Column({ type: 'text' })
  readonly requested_by: string;

  @Column({ type: 'text', nullable: true })
  readonly on_behalf_of: string | null;

  @Column({ type: 'boolean', default: false })
  readonly automatic: boolean;

  /** Of an automatic run: of the verdict that it goes by. Empty where there was none. */
  @Column({ type: 'text', collation: 'C', default: '' })
  readonly classification: string;

  /** Cancelled with its incident or by the kill switch before any of its actions began. A later automatic run may replace it. */
  @Column({ type: 'boolean', default: false })
  readonly void: boolean;

  @Column({ type: 'json' })
  readonly variables: Readonly<Record<string, unknown>>;

  @Column({ type: 'json', nullable: true })
  readonly incident: IncidentAtStart | null;

  @Column({ type: 'integer', default: 0 })
  readonly steps_completed: number;

  @Column({ type: 'integer', default: 0 })
  readonly steps_failed: number;

  @Column({ type: 'integer' })
  readonly steps_total: number;

  @Column({ type: 'text', nullable: true })
  readonly error: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  readonly due_at: Date | null;

  /** Of an automatic run: when it may begin. Null where there was no limit. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly starts_at: Date | null;

  @Column({ type: 'timestamptz', nullable: true })
  readonly lease_until: Date | null;

  @Column({ type: 'integer', default: 0 })
  readonly fence: number;

  @Column({ type: 'integer', default: 0 })
  readonly wakes: number;

  @Column({ type: 'integer', default: 0 })
  readonly attempts: number;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly started_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly completed_at: Date | null;
}

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
