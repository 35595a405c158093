import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

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
