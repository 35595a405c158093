import {
  Check,
  Column,
  Entity,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  Unique,
} from 'typeorm';
import type { Role } from '../../platform/access/roles.js';
import { UserEntity } from '../users/user.entity.js';

@Entity('api_keys')
@Unique('uq_api_keys_name', ['name'])
@Unique('uq_api_keys_prefix', ['prefix'])
@Check('ck_api_keys_role', `role in ('viewer', 'analyst', 'senior', 'manager', 'admin')`)
@Check('ck_api_keys_prefix', `prefix ~ '^[A-Za-z0-9]{8}$'`)
@Check('ck_api_keys_secret_hash', `octet_length(secret_hash) = 32`)
@Check('ck_api_keys_limits', `limit_read >= 0 and limit_write >= 0 and limit_triage >= 0`)
@Index('ix_api_keys_created_at', ['created_at', 'id'], { where: 'revoked_at is null' })
@Index('ix_api_keys_owner_id', ['owner_id'], { where: 'revoked_at is null' })
@Index('ix_api_keys_created_by', ['created_by', 'created_at', 'id'], {
  where: 'revoked_at is null',
})
export class ApiKeyEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_api_keys' })
  readonly id: string;

  @Column({ type: 'text' })
  readonly name: string;

  @Column({ type: 'text' })
  readonly role: Role;

  @Column({ type: 'text' })
  readonly prefix: string;

  /** SHA-256. Only read where it is asked for by name. */
  @Column({ type: 'bytea', select: false })
  readonly secret_hash: Buffer;

  @Column({ type: 'integer', nullable: true })
  readonly limit_read: number | null;

  @Column({ type: 'integer', nullable: true })
  readonly limit_write: number | null;

  @Column({ type: 'integer', nullable: true })
  readonly limit_triage: number | null;

  @Column({ type: 'text' })
  readonly created_by: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly expires_at: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_used_at: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly revoked_at: Date | null;

  /** The user whose key it is, also where another key made it; null for keys of the first start and what they made. */
  @Column({ type: 'uuid', nullable: true })
  readonly owner_id: string | null;

  @ManyToOne(() => UserEntity)
  @JoinColumn({ name: 'owner_id', foreignKeyConstraintName: 'fk_api_keys_owner_id' })
  readonly owner?: UserEntity | null;
}
