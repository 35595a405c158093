import { Check, Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { IncidentFields } from '../incident-fields.js';
import {
  type Classification,
  type IncidentStatus,
  SEVERITIES,
  type Severity,
  type Verdict,
} from '../incident.js';

@Entity('incidents')
@Unique('uq_incidents_number', ['number'])
@Check(
  'ck_incidents_id_begins_with_created_at',
  `substring(uuid_send(id) from 1 for 6) =
    substring(int8send((extract(epoch from created_at) * 1000)::bigint) from 3)`,
)
@Index('ix_incidents_status', ['status', 'severity', 'id'], { where: 'deleted_at is null' })
@Index('ix_incidents_type', ['incident_type', 'id'], { where: 'deleted_at is null' })
@Index('ix_incidents_type_status', ['incident_type', 'status', 'severity', 'id'], {
  where: 'deleted_at is null',
})
// These include further columns, which TypeORM cannot say.
@Index('ix_incidents_classification', { synchronize: false })
@Index('ix_incidents_source', { synchronize: false })
@Index('ix_incidents_source_status', { synchronize: false })
@Index('ix_incidents_updated_at', ['updated_at', 'id'], { where: 'deleted_at is null' })
@Index('ix_incidents_triaged_at', ['triaged_at', 'id'], {
  where: 'triaged_at is not null and deleted_at is null',
})
@Index('ix_incidents_resolved_at', ['resolved_at', 'id'], {
  where: 'resolved_at is not null and deleted_at is null',
})
export class IncidentEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_incidents' })
  readonly id: string;

  @Column({ type: 'bigint', default: () => `nextval('incident_number')` })
  readonly number: string;

  @Column({ type: 'text', collation: 'C' })
  readonly incident_type: string;

  @Column({
    type: 'enum',
    enum: SEVERITIES,
    enumName: 'incident_severity',
  })
  readonly severity: Severity;

  @Column({ type: 'enum', enum: ['open', 'resolved', 'triaged'], enumName: 'incident_status' })
  readonly status: IncidentStatus;

  @Column({ type: 'text', collation: 'C' })
  readonly source: string;

  /** Null where the incident is older than the column. */
  @Column({ type: 'text', nullable: true })
  readonly title: string | null;

  @Column({ type: 'json' })
  readonly raw_data: object;

  /** Null where the incident is older than the column. */
  @Column({ type: 'json', nullable: true })
  readonly fields: IncidentFields | null;

  @Column({ type: 'json', nullable: true })
  readonly verdict: Verdict | null;

  /** Of the verdict; a trigger writes it. */
  @Column({ type: 'text', collation: 'C', nullable: true, insert: false, update: false })
  readonly classification: Classification | null;

  @Column({ type: 'boolean', default: false })
  readonly verdict_by_person: boolean;

  @Column({ type: 'text', array: true, default: [] })
  readonly recommended_actions: readonly string[];

  @Column({ type: 'text', nullable: true })
  readonly resolution: string | null;

  @Column({ type: 'integer', default: 1 })
  readonly version: number;

  @Column({ type: 'text' })
  readonly created_by: string;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly updated_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly triaged_at: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly resolved_at: Date | null;

  @Column({ type: 'text', nullable: true })
  readonly resolved_by: string | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly deleted_at: Date | null;
}
