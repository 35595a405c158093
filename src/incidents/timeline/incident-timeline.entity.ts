import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { IncidentEntity } from '../records/incident.entity.js';
import type { TimelineDetails } from './timeline-entry.js';

@Entity('incident_timeline')
@Check('ck_incident_timeline_subject', `(subject_type is null) = (subject_id is null)`)
@Index('ix_incident_timeline_incident', ['incident_id', 'id'])
@Index('ix_incident_timeline_update_of_resolved', ['id'], {
  where: `event = 'update_of_resolved'`,
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
