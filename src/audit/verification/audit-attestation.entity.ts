import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { AS_BIGINT } from '../../platform/database/column-types.js';

/** What a later key says about a range of seals. */
@Entity('audit_attestations')
@Check('ck_audit_attestations_macs', `octet_length(macs) = 32 * (last_seq - first_seq + 1)`)
export class AuditAttestationEntity {
  @PrimaryColumn({
    type: 'bigint',
    transformer: AS_BIGINT,
    primaryKeyConstraintName: 'pk_audit_attestations',
  })
  readonly first_seq: bigint;

  @Column({ type: 'bigint', transformer: AS_BIGINT })
  readonly last_seq: bigint;

  /** One MAC for each seal of the range, in their order, one after the other. */
  @Column({ type: 'bytea' })
  readonly macs: Buffer;

  @Column({ type: 'text' })
  readonly key_id: string;
}
