import { Column } from 'typeorm';

/** What each table of events has of an event, beside its id. */
export abstract class EventColumns {
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
