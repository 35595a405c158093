import { Entity, PrimaryColumn } from 'typeorm';
import { EventColumns } from './event-columns.js';

@Entity('unhandled_events')
export class UnhandledEventEntity extends EventColumns {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_unhandled_events' })
  readonly event_id: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_unhandled_events' })
  readonly handler: string;
}
