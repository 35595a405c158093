import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('domain_events')
export class DomainEventEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'domain_events_pkey',
  })
  readonly position: string;

  @Column({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'text' })
  readonly type: string;

  @Column({ type: 'text' })
  readonly subject_type: string;

  @Column({ type: 'text' })
  readonly subject_id: string;

  @Column({ type: 'jsonb' })
  readonly payload: object;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly occurred_at: Date;
}
