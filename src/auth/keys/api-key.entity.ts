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
import type { KeyLimitClass, LimitClass } from '../../platform/http/request.js';
import { UserEntity } from '../users/user.entity.js';

type KeyLimits = Partial<Readonly<Record<LimitClass, number>>>;

@Entity('api_keys')
@Unique('uq_api_keys_name', ['name'])
@Unique('uq_api_keys_prefix', ['prefix'])
@Check('ck_api_keys_role', `role in ('viewer', 'analyst', 'senior', 'manager', 'admin')`)
@Check('ck_api_keys_prefix', `prefix ~ '^[A-Za-z0-9]{8}$'`)
@Check('ck_api_keys_secret_hash', `octet_length(secret_hash) = 32`)
@Check('ck_api_keys_limit_class', `limit_class in ('standard', 'integration')`)
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

  /** SHA-256. Queries must select it explicitly. */
  @Column({ type: 'bytea', select: false })
  readonly secret_hash: Buffer;

  @Column({ type: 'text', default: 'standard' })
  readonly limit_class: KeyLimitClass;

  /** Limits of the key. They replace the limits of the class. */
  @Column({ type: 'jsonb', nullable: true })
  readonly limits: KeyLimits | null;

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

  /**
   * User who owns the key, directly or through another key. Null for keys of the first start and for keys that those
   * keys created.
   */
  @Column({ type: 'uuid', nullable: true })
  readonly owner_id: string | null;

  @ManyToOne(() => UserEntity)
  @JoinColumn({ name: 'owner_id', foreignKeyConstraintName: 'fk_api_keys_owner_id' })
  readonly owner?: UserEntity | null;
}

export type ApiKey = Omit<ApiKeyEntity, 'secret_hash' | 'owner'> & {
  /** User name of the owner. */
  readonly owner: string | null;
};

export type NewApiKey = Pick<ApiKeyEntity, 'id' | 'name' | 'role' | 'prefix' | 'secret_hash'> & {
  readonly limit_class?: KeyLimitClass;
  readonly limits?: KeyLimits;
  readonly created_by: string;
  readonly owner_id?: string;
  readonly expiresInDays?: number;
};

/** The secret is never available again. */
export type CreatedKey = ApiKey & { readonly key: string };
