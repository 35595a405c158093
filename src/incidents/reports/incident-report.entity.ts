import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { SEVERITIES, type Severity } from '../incident.js';
import { IncidentEntity } from '../records/incident.entity.js';

/** A later event about an incident, with other content than the events before it. */
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

  /** The receipt that brought it, which has the bytes. */
  @Column({ type: 'uuid' })
  readonly webhook_event_id: string;

  @Column({ type: 'json' })
  readonly raw_data: unknown;
}
