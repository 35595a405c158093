import {
  Check,
  Column,
  Entity,
  ForeignKey,
  Index,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  Unique,
} from 'typeorm';
import type { Role } from '../platform/access/roles.js';
import { RowTimes } from '../platform/database/columns.js';
import type { Caller, KeyLimitClass } from '../platform/http/request.js';

export const USERNAME = /^[a-z0-9][a-z0-9._@-]{1,62}$/;
export const RESERVED_NAME = 'system';

export function isUsername(text: string): boolean {
  return USERNAME.test(text) && text !== RESERVED_NAME;
}

@Entity('users')
@Unique('uq_users_username', ['username'])
@Check('ck_users_username', `username ~ '${USERNAME.source}' and username <> '${RESERVED_NAME}'`)
@Check('ck_users_role', `role in ('viewer', 'analyst', 'senior', 'manager', 'admin')`)
@Check('ck_users_password_hash', `(password_hash is null) = (deleted_at is not null)`)
@Index('ix_users_created_at', ['created_at', 'id'], { where: 'deleted_at is null' })
export class UserEntity extends RowTimes {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_users' })
  readonly id: string;

  @Column({ type: 'text' })
  readonly username: string;

  @Column({ type: 'text' })
  readonly role: Role;

  @Column({ type: 'boolean', default: true })
  readonly enabled: boolean;

  /** Null after the user is deleted. */
  @Column({ type: 'text', nullable: true, select: false })
  readonly password_hash: string | null;

  /** True while the generated password of the first start is in use. */
  @Column({ type: 'boolean', default: false })
  readonly password_made_up: boolean;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_login_at: Date | null;
}

export type User = Omit<UserEntity, 'password_hash'>;

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

  @Column({ type: 'bytea', select: false })
  readonly secret_hash: Buffer;

  @Column({ type: 'text', default: 'standard' })
  readonly limit_class: KeyLimitClass;

  @Column({ type: 'jsonb', nullable: true })
  readonly limits: Caller['limits'] | null;

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

  /** Null for keys of the first start and for keys that those keys created. */
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

export type CreatedKey = ApiKey & { readonly key: string };

export const IDLE_HOURS = 8;
export const ABSOLUTE_HOURS = 24;

export type Session = Omit<SessionEntity, 'token_hash'>;

@Entity('sessions')
@Unique('uq_sessions_token_hash', ['token_hash'])
@Check('ck_sessions_token_hash', `octet_length(token_hash) = 32`)
@Check('ck_sessions_user_agent', `length(user_agent) <= 256`)
@Index('ix_sessions_user_id', ['user_id'])
@Index('ix_sessions_last_seen_at', ['last_seen_at'])
export class SessionEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_sessions' })
  readonly id: string;

  @Column({ type: 'bytea', select: false })
  readonly token_hash: Buffer;

  @Column({ type: 'uuid' })
  @ForeignKey(() => UserEntity, { name: 'fk_sessions_user_id', onDelete: 'CASCADE' })
  readonly user_id: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly created_at: Date;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly last_seen_at: Date;

  @Column({ type: 'timestamptz', precision: 3 })
  readonly expires_at: Date;

  @Column({ type: 'text', nullable: true })
  readonly address: string | null;

  @Column({ type: 'text', nullable: true })
  readonly user_agent: string | null;
}

const PRIMARY_KEY = { primaryKeyConstraintName: 'pk_known_networks' };

@Entity('known_networks')
@Check('ck_known_networks_network', `length(network) between 1 and 64`)
@Index('ix_known_networks_last_seen_at', ['last_seen_at'])
export class KnownNetworkEntity {
  @PrimaryColumn({ type: 'uuid', ...PRIMARY_KEY })
  @ForeignKey(() => UserEntity, { name: 'fk_known_networks_user_id', onDelete: 'CASCADE' })
  readonly user_id: string;

  @PrimaryColumn({ type: 'text', ...PRIMARY_KEY })
  readonly network: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly last_seen_at: Date;
}
