import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { ActionResult, ActionStatus, Parameters, Phase, RequiredLevel } from '../action.js';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';

/** The one definition of a row of actions: how it is read and made an Action follows from it (action-rows.ts). */

@Entity('actions')
@Check(
  'ck_actions_status',
  `status in ('pending', 'pending_approval', 'completed', 'failed', 'rejected')`,
)
@Check('ck_actions_approval_level', `approval_level in ('analyst', 'senior', 'manager')`)
@Check(
  'ck_actions_phase',
  `phase is null or (status = 'pending' and phase in ('claimed', 'accepted') and connector_id is not null)`,
)
@Check('ck_actions_lease', `(status = 'pending') = (lease_until is not null)`)
@Check(
  'ck_actions_pending_approval',
  `status <> 'pending_approval' or (approval_level is not null and approved_by is null)`,
)
@Check(
  'ck_actions_consent',
  `status not in ('pending', 'completed') or approval_level is null or approved_by is not null`,
)
@Check('ck_actions_result', `status not in ('completed', 'failed') or result is not null`)
@Check(
  'ck_actions_rejected',
  `(status = 'rejected') = (rejected_by is not null and rejected_at is not null and rejection_reason is not null)`,
)
@Index('uq_actions_rollback_of', ['rollback_of'], {
  unique: true,
  where: `status not in ('failed', 'rejected')`,
})
@Index('ix_actions_rollbacks', ['rollback_of'], { where: 'rollback_of is not null' })
@Index('ix_actions_lease', ['lease_until'], { where: `status = 'pending'` })
@Index('ix_actions_incident', ['incident_id', 'id'], { where: 'incident_id is not null' })
@Index('ix_actions_status', ['status', 'id'])
@Index('ix_actions_target', ['target_hash', 'action_type', 'id'], {
  where: 'target_hash is not null',
})
@Index('ix_actions_type', ['action_type', 'id'])
@Index('ix_actions_level', ['approval_level', 'id'], { where: 'approval_level is not null' })
@Index('ix_actions_requested_by', ['requested_by', 'id'])
@Index('ix_actions_approved_by', ['approved_by', 'id'], { where: 'approved_by is not null' })
@Index('ix_actions_executed_at', ['executed_at', 'id'])
// Descending, with nulls last, which TypeORM cannot say.
@Index('ix_actions_executed_last', { synchronize: false })
export class ActionEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_actions' })
  readonly id: string;

  @Column({ type: 'uuid', nullable: true })
  @ForeignKey('incidents', { name: 'fk_actions_incident' })
  readonly incident_id: string | null;

  @Column({ type: 'text', collation: 'C' })
  readonly action_type: ActionTypeName;

  @Column({ type: 'json' })
  readonly parameters: Parameters;

  @Column({ type: 'text', collation: 'C' })
  readonly status: ActionStatus;

  @Column({ type: 'text', collation: 'C', nullable: true })
  readonly approval_level: RequiredLevel | null;

  @Column({ type: 'text' })
  readonly requested_by: string;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly requested_at: Date;

  /** The run may be gone, when the site keeps runs for some time only. */
  @Column({ type: 'uuid', nullable: true })
  readonly playbook_run_id: string | null;

  @Column({ type: 'text', nullable: true })
  readonly on_behalf_of: string | null;

  @Column({ type: 'uuid', nullable: true })
  @ForeignKey(() => ActionEntity, { name: 'fk_actions_rollback_of' })
  readonly rollback_of: string | null;

  @Column({ type: 'text', nullable: true })
  readonly reason: string | null;

  /** When its approvers were last told that it expires soon. */
  @Column({ type: 'timestamptz', nullable: true })
  readonly reminded_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly approved_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly approved_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly approval_comment: string | null;

  @Column({ type: 'text', nullable: true })
  readonly rejected_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly rejected_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly rejection_reason: string | null;

  @Column({ type: 'text', nullable: true })
  readonly executed_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly executed_at: Date | null;

  @Column({ type: 'json', nullable: true })
  readonly result: ActionResult | null;

  @Column({ type: 'text', nullable: true })
  readonly phase: Phase | null;

  @Column({ type: 'boolean', default: false })
  readonly sent: boolean;

  @Column({ type: 'integer', default: 0 })
  readonly fence: number;

  @Column({ type: 'timestamptz', nullable: true })
  readonly lease_until: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly connector_id: string | null;

  @Column({ type: 'json', nullable: true })
  readonly handle: Readonly<Record<string, unknown>> | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly accepted_at: Date | null;

  /** Of the normal form of the target, where the type is not to be repeated. */
  @Column({ type: 'bytea', nullable: true })
  readonly target_hash: Buffer | null;
}
