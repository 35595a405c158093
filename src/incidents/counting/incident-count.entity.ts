import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A sum of the fold. An empty word in a column stands for any value. */
@Entity('incident_counts')
export class IncidentCountEntity {
  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_incident_counts',
  })
  readonly source: string;

  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_incident_counts',
  })
  readonly incident_type: string;

  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_incident_counts',
  })
  readonly severity: string;

  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_incident_counts',
  })
  readonly status: string;

  @Column({ type: 'bigint' })
  readonly n: string;
}

/** A run of the list in the order of ids, from first_id to the next run's: how many incidents it holds. */
@Entity('incident_segments')
export class IncidentSegmentEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_incident_segments' })
  readonly first_id: string;

  @Column({ type: 'bigint' })
  readonly n: string;
}
