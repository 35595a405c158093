import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('incident_segments')
export class IncidentSegmentEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_incident_segments' })
  readonly first_id: string;

  @Column({ type: 'bigint' })
  readonly n: string;
}
