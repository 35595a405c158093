import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';
import { AS_BIGINT } from '../../platform/database/column-types.js';

/** One link of the chain: the entry that it seals, and a hash over that entry and the link before. */
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
