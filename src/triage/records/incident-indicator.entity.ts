import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** That a run found an indicator in an incident. */
@Entity('incident_indicators')
export class IncidentIndicatorEntity {
  /** A hash of the indicator's type and value: of one length, however long the value is. */
  @PrimaryColumn({ type: 'bytea', primaryKeyConstraintName: 'pk_incident_indicators' })
  readonly key: Buffer;

  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_incident_indicators' })
  @ForeignKey('incidents', { name: 'fk_incident_indicators_incident' })
  readonly incident_id: string;
}
