import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AttentionKind } from './attention.js';

/** Somebody has seen to it. What happens to the same subject later is an item again. */
@Entity('attention_marks')
export class AttentionMarkEntity {
  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_attention_marks',
  })
  readonly kind: AttentionKind;

  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_attention_marks',
  })
  readonly subject: string;

  /** Of the item: with the microseconds that some tables keep. */
  @Column({ type: 'timestamptz' })
  readonly at: Date;

  @Column({ type: 'text' })
  readonly done_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly done_at: Date;

  @Column({ type: 'text' })
  readonly reason: string;
}
