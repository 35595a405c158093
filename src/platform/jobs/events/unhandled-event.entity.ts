import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('unhandled_events')
export class UnhandledEventEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_unhandled_events' })
  readonly event_id: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_unhandled_events' })
  readonly handler: string;

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
