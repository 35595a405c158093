import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A sum of the fold: one for each combination. */
@Entity('playbook_run_counts')
export class PlaybookRunCountEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_playbook_run_counts' })
  readonly playbook_id: string;

  @PrimaryColumn({
    type: 'text',
    collation: 'C',
    primaryKeyConstraintName: 'pk_playbook_run_counts',
  })
  readonly status: string;

  @Column({ type: 'bigint' })
  readonly n: string;
}
