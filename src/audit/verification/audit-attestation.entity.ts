import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('audit_attestations')
@Check('ck_audit_attestations_macs', `octet_length(macs) = 32 * (last_seq - first_seq + 1)`)
export class AuditAttestationEntity {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_audit_attestations' })
  readonly first_seq: string;

  @Column({ type: 'bigint' })
  readonly last_seq: string;

  @Column({ type: 'bytea' })
  readonly macs: Buffer;

  @Column({ type: 'text' })
  readonly key_id: string;
}
