import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A sum of the fold: one for each combination. */
@Entity('action_counts')
export class ActionCountEntity {
  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_action_counts',
  })
  readonly status: string;

  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_action_counts',
  })
  readonly action_type: string;

  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_action_counts',
  })
  readonly approval_level: string;

  @Column({ type: 'bigint' })
  readonly n: string;
}
