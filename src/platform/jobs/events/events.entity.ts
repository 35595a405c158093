import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { EventColumns } from '../../database/columns.js';

@Entity('domain_events')
export class DomainEventEntity extends EventColumns {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'domain_events_pkey',
  })
  readonly position: string;

  @Column({ type: 'uuid' })
  readonly id: string;
}

@Entity('processed_events')
export class ProcessedEventEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'processed_events_pkey' })
  readonly event_id: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'processed_events_pkey' })
  readonly handler: string;
}

@Entity('unhandled_events')
export class UnhandledEventEntity extends EventColumns {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_unhandled_events' })
  readonly event_id: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_unhandled_events' })
  readonly handler: string;
}
