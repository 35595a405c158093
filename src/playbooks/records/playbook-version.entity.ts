import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** Written once: a trigger refuses every change, so that a run finds what it began with. */
@Entity('playbook_versions')
export class PlaybookVersionEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_playbook_versions' })
  @ForeignKey('playbooks', { name: 'fk_playbook_versions_playbook' })
  readonly playbook_id: string;

  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'pk_playbook_versions' })
  readonly version: number;

  @Column({ type: 'text', collation: 'C' })
  readonly name: string;

  @Column({ type: 'json' })
  readonly definition: object;

  @Column({ type: 'text' })
  readonly changed_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly changed_at: Date;
}
