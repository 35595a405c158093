import { Entity, PrimaryColumn } from 'typeorm';

@Entity('processed_events')
export class ProcessedEventEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'processed_events_pkey' })
  readonly event_id: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'processed_events_pkey' })
  readonly handler: string;
}
