import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { XID8 } from '../platform/database/column-types.js';

/** One entry of the audit trail. Triggers refuse to change or delete one. */
@Entity('audit_log')
@Index('ix_audit_log_xid', ['xid'])
@Index('ix_audit_log_subject_id', ['subject_id'])
@Index('ix_audit_log_head_accepted', ['id'], { where: `action = 'audit.head_accepted'` })
export class AuditLogEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_audit_log' })
  readonly id: string;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly at: Date;

  @Column({ type: 'text' })
  readonly actor: string;

  @Column({ type: 'text' })
  readonly action: string;

  @Column({ type: 'text' })
  readonly subject_type: string;

  @Column({ type: 'text' })
  readonly subject_id: string;

  /** Of type json and not jsonb, which keeps every byte: the MAC covers the text. */
  @Column({ type: 'json' })
  readonly details: Readonly<Record<string, unknown>>;

  /** The transaction that wrote the entry: the sealer finds new entries by it. */
  @Column({ type: XID8, default: () => 'pg_current_xact_id()' })
  readonly xid: string;

  @Column({ type: 'text' })
  readonly key_id: string;

  @Column({ type: 'bytea' })
  readonly mac: Buffer;

  /** The process that wrote the entry; null in entries from before processes were named. */
  @Column({ type: 'text', nullable: true })
  readonly writer: string | null;

  /** How many entries of its writer had committed, as far as the writer knew, when this one was made. */
  @Column({ type: 'bigint', nullable: true })
  readonly written: string | null;
}
