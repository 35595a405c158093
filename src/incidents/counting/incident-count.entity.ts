import { Column, Entity, PrimaryColumn } from 'typeorm';

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
