import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';

@Entity('audit_seals')
@Unique('uq_audit_seals_audit_id', ['audit_id'])
export class AuditSealEntity {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_audit_seals' })
  readonly seq: string;

  @Column({ type: 'uuid' })
  readonly audit_id: string;

  @Column({ type: 'bytea' })
  readonly hash: Buffer;

  @Column({ type: 'text' })
  readonly key_id: string;
}
