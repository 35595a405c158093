import { Column } from 'typeorm';

/** When somebody made a row, changed it, and deleted it: a deleted row stays, for what refers to it. */
export abstract class RowTimes {
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly updated_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly deleted_at: Date | null;
}
