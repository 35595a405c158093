import { Check, Column, Entity, Index, PrimaryColumn, ForeignKey } from 'typeorm';
import { IncidentEntity, type IncidentStatus, SEVERITIES, type Severity } from '../incident.js';
import type { TimelineDetails } from '../timeline/timeline-entry.js';

@Entity('incident_timeline')
@Check('ck_incident_timeline_subject', `(subject_type is null) = (subject_id is null)`)
@Index('ix_incident_timeline_incident', ['incident_id', 'id'])
@Index('ix_incident_timeline_updates_left', ['id'], {
  where: `event in ('update_of_resolved', 'update_of_judged')`,
})
export class IncidentTimelineEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_incident_timeline' })
  readonly id: string;

  @Column({ type: 'uuid' })
  @ForeignKey(() => IncidentEntity, { name: 'fk_incident_timeline_incident' })
  readonly incident_id: string;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly at: Date;

  @Column({ type: 'text' })
  readonly event: string;

  @Column({ type: 'text' })
  readonly actor: string;

  @Column({ type: 'text' })
  readonly summary: string;

  @Column({ type: 'text', nullable: true })
  readonly subject_type: string | null;

  @Column({ type: 'text', nullable: true })
  readonly subject_id: string | null;

  @Column({ type: 'json', nullable: true })
  readonly details: TimelineDetails | null;
}

/** A later event about an incident, with different content. */
@Entity('incident_reports')
@Index('ix_incident_reports_incident', ['incident_id', 'id'])
export class IncidentReportEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_incident_reports' })
  readonly id: string;

  @Column({ type: 'uuid' })
  @ForeignKey(() => IncidentEntity, { name: 'fk_incident_reports_incident' })
  readonly incident_id: string;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly at: Date;

  @Column({ type: 'text' })
  readonly source: string;

  /** Severity of the event. The incident may have a higher one. */
  @Column({ type: 'enum', enum: SEVERITIES, enumName: 'incident_severity' })
  readonly severity: Severity;

  /** Webhook event that brought the report, with the original bytes. */
  @Column({ type: 'uuid' })
  readonly webhook_event_id: string;

  @Column({ type: 'json' })
  readonly raw_data: unknown;
}

const countedColumn = {
  type: 'text',
  collation: 'C',
  primaryKeyConstraintName: 'pk_incident_counts',
} as const;

/** A sum of the fold: the number of incidents with these values. */
@Entity('incident_counts')
export class IncidentCountEntity {
  @PrimaryColumn(countedColumn)
  readonly source: string;

  @PrimaryColumn(countedColumn)
  readonly incident_type: string;

  @PrimaryColumn({
    type: 'enum',
    enum: SEVERITIES,
    enumName: 'incident_severity',
    primaryKeyConstraintName: 'pk_incident_counts',
  })
  readonly severity: Severity;

  @PrimaryColumn({
    type: 'enum',
    enum: ['open', 'resolved', 'triaged'],
    enumName: 'incident_status',
    primaryKeyConstraintName: 'pk_incident_counts',
  })
  readonly status: IncidentStatus;

  @Column({ type: 'bigint' })
  readonly n: string;
}
