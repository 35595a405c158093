import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { AS_BIGINT, PG_SNAPSHOT, XID8 } from '../../platform/database/column-types.js';

/** The head of the chain, in one row: where the chain ends, and how far the sealer has looked. */
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

  @Column({ type: PG_SNAPSHOT, nullable: true })
  readonly sealed_to: string | null;

  @Column({ type: PG_SNAPSHOT, nullable: true })
  readonly sealing_to: string | null;

  @Column({ type: XID8, nullable: true })
  readonly after_xid: string | null;

  @Column({ type: 'uuid', nullable: true })
  readonly after_id: string | null;

  @Column({ type: 'text' })
  readonly key_id: string;

  @Column({ type: 'bytea' })
  readonly mac: Buffer;
}
