import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { PlaybookDefinition } from './playbook.js';

@Entity('playbooks')
@Check('ck_playbooks_name', `name ~ '^[a-z0-9][a-z0-9-]{0,62}$'`)
@Index('uq_playbooks_name', ['name'], { unique: true, where: 'deleted_at is null' })
@Index('ix_playbooks_created_at', ['created_at', 'id'], { where: 'deleted_at is null' })
@Index('ix_playbooks_auto_run', ['name'], {
  where: 'auto_run and enabled and deleted_at is null',
})
export class PlaybookEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_playbooks' })
  readonly id: string;

  @Column({ type: 'text', collation: 'C' })
  readonly name: string;

  @Column({ type: 'integer', default: 1 })
  readonly version: number;

  /** Copy from the definition, like `auto_run`, for the filters of lists and for triggers. */
  @Column({ type: 'boolean' })
  readonly enabled: boolean;

  @Column({ type: 'boolean' })
  readonly auto_run: boolean;

  /** Definition of the current version, so that reading a playbook reads one row. */
  @Column({ type: 'json' })
  readonly definition: PlaybookDefinition;

  @Column({ type: 'text' })
  readonly created_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Column({ type: 'text' })
  readonly updated_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly updated_at: Date;

  /** The row of a deleted playbook stays for its runs; its name is free again. */
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly deleted_at: Date | null;
}

/** Immutable: a trigger rejects every change, so that a run keeps the version that it started with. */
@Entity('playbook_versions')
export class PlaybookVersionEntity {
  @PrimaryColumn({
    name: 'playbook_id',
    type: 'uuid',
    primaryKeyConstraintName: 'pk_playbook_versions',
  })
  @ForeignKey('playbooks', { name: 'fk_playbook_versions_playbook' })
  readonly id: string;

  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'pk_playbook_versions' })
  readonly version: number;

  @Column({ type: 'text', collation: 'C' })
  readonly name: string;

  @Column({ type: 'json' })
  readonly definition: PlaybookDefinition;

  @Column({ type: 'text' })
  readonly changed_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly changed_at: Date;
}
