import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AttentionKind } from './attention-kinds.sql.js';

const KEY = {
  type: 'text',
  collation: 'C',
  primaryKeyConstraintName: 'pk_attention_marks',
} as const;

/** An item that a person has marked as done. Later events of the same subject are items again. */
@Entity('attention_marks')
export class AttentionMarkEntity {
  @PrimaryColumn(KEY)
  readonly kind: AttentionKind;

  @PrimaryColumn(KEY)
  readonly subject: string;

  /** Time of the item, with the microseconds of some tables. */
  @Column({ type: 'timestamptz' })
  readonly at: Date;

  @Column({ type: 'text' })
  readonly done_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly done_at: Date;

  @Column({ type: 'text' })
  readonly reason: string;
}
