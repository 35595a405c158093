import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

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

/** What one change did to the counts: the trigger appends it, the fold adds it to a sum and deletes it. */
@Entity('action_count_deltas')
export class ActionCountDeltaEntity {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_action_count_deltas',
  })
  readonly id: string;

  @Column({ type: 'text', collation: 'C' })
  readonly status: string;

  @Column({ type: 'text', collation: 'C' })
  readonly action_type: string;

  @Column({ type: 'text', collation: 'C' })
  readonly approval_level: string;

  @Column({ type: 'integer' })
  readonly n: number;
}
