import { Column, Entity, PrimaryColumn } from 'typeorm';
import { XID8, AS_BIGINT, PG_SNAPSHOT } from '../platform/database/columns.js';

/** Entry of the audit trail. Database triggers prevent changes and deletions. */
@Entity('audit_log')
export class AuditLogEntity {
  @PrimaryColumn({ type: 'uuid' })
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

  /** Id of the transaction that wrote the entry. The sealer finds new entries by this id. */
  @Column({ type: XID8, default: () => 'pg_current_xact_id()' })
  readonly xid: string;

  @Column({ type: 'text' })
  readonly key_id: string;

  @Column({ type: 'bytea' })
  readonly mac: Buffer;
}

@Entity('audit_seals')
export class AuditSealEntity {
  @PrimaryColumn({ type: 'bigint', transformer: AS_BIGINT })
  readonly seq: bigint;

  @Column({ type: 'uuid' })
  readonly audit_id: string;

  @Column({ type: 'bytea' })
  readonly hash: Buffer;

  @Column({ type: 'text' })
  readonly key_id: string;
}

/** Head of the chain, in one row: the last seal and the progress of the sealer. */
@Entity('audit_chain')
export class AuditChainEntity {
  @PrimaryColumn({ type: 'boolean', default: true })
  readonly only_row: boolean;

  @Column({ type: 'bigint', transformer: AS_BIGINT })
  readonly seq: bigint;

  @Column({ type: 'bytea' })
  readonly hash: Buffer;

  @Column({ type: 'text' })
  readonly cluster: string;

  /** All rows that this snapshot sees are sealed. `null` if not known. */
  @Column({ type: PG_SNAPSHOT, nullable: true })
  readonly sealed_to: string | null;

  @Column({ type: 'text' })
  readonly key_id: string;

  @Column({ type: 'bytea' })
  readonly mac: Buffer;

  @Column({ type: 'timestamptz', nullable: true })
  readonly found_invalid_at: Date | null;
}

/** Earlier key of the trail, encrypted with the first key of SECRETS_KEY, and the last seal that it may sign. */
@Entity('audit_retired_keys')
export class AuditRetiredKeyEntity {
  @PrimaryColumn({ type: 'text' })
  readonly key_id: string;

  @Column({ type: 'text' })
  readonly sealed: string;
}
