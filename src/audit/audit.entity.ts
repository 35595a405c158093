import { Column, Entity, Index, PrimaryColumn, Unique, Check } from 'typeorm';
import { XID8, AS_BIGINT, PG_SNAPSHOT } from '../platform/database/columns.js';

/** Entry of the audit trail. Triggers prevent changes and deletions. */
@Entity('audit_log')
@Index('ix_audit_log_xid', ['xid'])
@Index('ix_audit_log_subject_id', ['subject_id'])
@Index('ix_audit_log_actor', ['actor', 'id'])
@Index('ix_audit_log_action', ['action', 'id'])
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

  /** Type json and not jsonb, because json keeps every byte and the MAC covers the text. */
  @Column({ type: 'json' })
  readonly details: Readonly<Record<string, unknown>>;

  /** Transaction that wrote the entry. The sealer uses the id to find new entries. */
  @Column({ type: XID8, default: () => 'pg_current_xact_id()' })
  readonly xid: string;

  @Column({ type: 'text' })
  readonly key_id: string;

  @Column({ type: 'bytea' })
  readonly mac: Buffer;
}

/** Link of the chain: a sealed entry, and a hash over the entry and the previous link. */
@Entity('audit_seals')
@Unique('uq_audit_seals_audit_id', ['audit_id'])
export class AuditSealEntity {
  @PrimaryColumn({
    type: 'bigint',
    transformer: AS_BIGINT,
    primaryKeyConstraintName: 'pk_audit_seals',
  })
  readonly seq: bigint;

  @Column({ type: 'uuid' })
  readonly audit_id: string;

  @Column({ type: 'bytea' })
  readonly hash: Buffer;

  @Column({ type: 'text' })
  readonly key_id: string;
}

/** Head of the chain in one row: the end of the chain, and the progress of the sealing. */
@Entity('audit_chain')
@Check('ck_audit_chain_only_row', 'only_row')
export class AuditChainEntity {
  @PrimaryColumn({
    type: 'boolean',
    default: true,
    primaryKeyConstraintName: 'pk_audit_chain',
  })
  readonly only_row: boolean;

  @Column({ type: 'bigint', transformer: AS_BIGINT })
  readonly seq: bigint;

  @Column({ type: 'bytea' })
  readonly hash: Buffer;

  @Column({ type: 'text' })
  readonly cluster: string;

  /** All rows that this snapshot sees are sealed; null: unknown. */
  @Column({ type: PG_SNAPSHOT, nullable: true })
  readonly sealed_to: string | null;

  @Column({ type: 'text' })
  readonly key_id: string;

  @Column({ type: 'bytea' })
  readonly mac: Buffer;

  @Column({ type: 'timestamptz', nullable: true })
  readonly found_invalid_at: Date | null;
}

/** Older key of rows and seals, encrypted with the first key of SECRETS_KEY, and the number of its last seal. */
@Entity('audit_retired_keys')
export class AuditRetiredKeyEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_audit_retired_keys' })
  readonly key_id: string;

  @Column({ type: 'text' })
  readonly sealed: string;
}
