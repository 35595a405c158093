import {
  Check,
  Column,
  Entity,
  ForeignKey,
  getMetadataArgsStorage,
  Index,
  PrimaryColumn,
} from 'typeorm';
import type {
  Action,
  ActionIncident,
  ActionPreview,
  ActionResult,
  ActionStatus,
  Parameters,
  Phase,
  RequiredLevel,
} from './action.js';
import type { ActionTypeName } from '../action-catalogue/action-types.js';
import {
  incidentNumber,
  type IncidentStatus,
  reportedMail,
  type Severity,
} from '../incidents/incident.js';
import { titleWithoutDetails } from '../incidents/titles.js';
/** The one definition of a row of actions. The columns that statements read, and the fields of an Action, follow from it. */
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
@Check(
  'ck_actions_rejection_code',
  `rejection_code is null or (rejection_code = 'expired' and status = 'rejected')`,
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
@Index('ix_actions_updated_at', ['updated_at', 'id'])
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

  @Column({ type: 'json', nullable: true })
  readonly authors: readonly string[] | null;

  @Column({ type: 'json', nullable: true })
  readonly preview: ActionPreview | null;

  @Column({ type: 'uuid', nullable: true })
  @ForeignKey(() => ActionEntity, { name: 'fk_actions_rollback_of' })
  readonly rollback_of: string | null;

  @Column({ type: 'text', nullable: true })
  readonly reason: string | null;

  /** Time of the last reminder that the approval expires soon. */
  @Column({ type: 'timestamptz', nullable: true })
  readonly reminded_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly approved_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly approved_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly comment: string | null;

  @Column({ type: 'text', nullable: true })
  readonly rejected_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly rejected_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly rejection_reason: string | null;

  @Column({ type: 'text', nullable: true })
  readonly rejection_code: 'expired' | null;

  @Column({ type: 'text', nullable: true })
  readonly executed_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly executed_at: Date | null;

  /** When anything that callers see of it changed last; a trigger writes it. */
  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  readonly updated_at: Date;

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

type Column = keyof ActionEntity;

/** Every column of the table. */
export const TABLE_COLUMNS = getMetadataArgsStorage()
  .columns.filter(({ target }) => target === ActionEntity)
  .map(({ propertyName }) => propertyName as Column);

/** Only statements look at a lease, which they compare with the clock of the database, at what finds twins, and at what lists are ordered by. */
const INNER_COLUMNS = ['lease_until', 'target_hash', 'updated_at'] as const;
type InnerColumn = (typeof INNER_COLUMNS)[number];
type OwnColumns = Omit<ActionEntity, InnerColumn>;

interface LinkedColumns {
  readonly rolled_back_by: string | null;
}

/** What a statement that reads ACTION_COLUMNS yields. */
export type ActionRow = OwnColumns &
  LinkedColumns & {
    readonly incident: {
      readonly number: string;
      readonly created_at: string;
      readonly type: string;
      readonly source: string;
      readonly title: string | null;
      readonly severity: Severity;
      readonly status: IncidentStatus;
      readonly message_id: unknown;
      readonly sender: unknown;
    } | null;
  };

const OWN_COLUMNS = TABLE_COLUMNS.filter(
  (column): column is keyof OwnColumns => !INNER_COLUMNS.includes(column as InnerColumn),
);
const FIELDS = [...OWN_COLUMNS, 'rolled_back_by' as const];

/**
 * An action is linked to its rollback by the rollback alone, so that the two cannot differ. What is said of its incident
 * comes with it, so that nothing that is said about an action costs another round trip.
 */
export const ACTION_COLUMNS = `${OWN_COLUMNS.map((column) => `actions.${column}`).join(', ')},
  (select back.id from actions back
    where back.rollback_of = actions.id and back.status not in ('failed', 'rejected')) as rolled_back_by,
  (select json_build_object('number', incidents.number::text, 'created_at', incidents.created_at,
                            'type', incidents.incident_type, 'source', incidents.source,
                            'title', incidents.title, 'severity', incidents.severity,
                            'status', incidents.status,
                            'message_id', incidents.fields->'message_id', 'sender', incidents.fields->'sender')
     from incidents where incidents.id = actions.incident_id and incidents.deleted_at is null) as incident`;

type Nullable<Row> = { [C in keyof Row]: null extends Row[C] ? C : never }[keyof Row];

/** The fields that columns say: what is null in a row is absent from the action. */
type FieldsOf<Row> = {
  [C in Exclude<keyof Row, Nullable<Row>>]: Row[C];
} & {
  [C in Nullable<Row>]?: NonNullable<Row[C]>;
};

export function actionOf(row: ActionRow): Action {
  const action: Record<string, unknown> = {};
  for (const column of FIELDS) {
    const value = row[column];
    if (value !== null) action[column] = value;
  }
  if (row.incident) action.incident = incidentOf(row.incident);
  return action as FieldsOf<OwnColumns & LinkedColumns> & { readonly incident?: ActionIncident };
}

function incidentOf(incident: NonNullable<ActionRow['incident']>): ActionIncident {
  const { number, created_at, type, source, title, severity, status } = incident;
  return {
    incidentNumber: incidentNumber(number, new Date(created_at)),
    incidentType: type,
    title: title ?? titleWithoutDetails(type, source),
    severity,
    status,
    mail: reportedMail(incident.message_id, incident.sender),
  };
}

/** A sum of the fold: one for each combination. */
@Entity('action_counts')
export class ActionCountEntity {
  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_action_counts',
  })
  readonly status: string;

  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_action_counts',
  })
  readonly action_type: string;

  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_action_counts',
  })
  readonly approval_level: string;

  @Column({ type: 'bigint' })
  readonly n: string;
}
