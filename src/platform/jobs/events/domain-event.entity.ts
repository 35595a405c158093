import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { EventColumns } from './event-columns.js';

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
