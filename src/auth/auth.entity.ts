import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';
import type { Role } from '../platform/access/roles.js';
import { RowTimes } from '../platform/database/columns.js';
import type { Caller, KeyLimitClass } from '../platform/http/request.js';

export const USERNAME = /^[a-z0-9][a-z0-9._@-]{1,62}$/;
export const RESERVED_NAME = 'system';

export function isUsername(text: string): boolean {
  return USERNAME.test(text) && text !== RESERVED_NAME;
}

@Entity('users')
export class UserEntity extends RowTimes {
  @PrimaryColumn({ type: 'uuid' })
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

  /** True while the user has the generated password of the first start. */
  @Column({ type: 'boolean', default: false })
  readonly password_made_up: boolean;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_login_at: Date | null;
}

export type User = Omit<UserEntity, 'password_hash'>;

@Entity('api_keys')
export class ApiKeyEntity {
  @PrimaryColumn({ type: 'uuid' })
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

  /** Null for keys of the first start, and for keys that were created with those keys. */
  @Column({ type: 'uuid', nullable: true })
  readonly owner_id: string | null;

  @VirtualColumn({
    type: 'text',
    query: (key) => `select username from users where id = ${key}.owner_id`,
  })
  readonly owner: string | null;
}

export type CreatedKey = Omit<ApiKeyEntity, 'secret_hash'> & { readonly key: string };

export const IDLE_HOURS = 8;
export const ABSOLUTE_HOURS = 24;

export type Session = Omit<SessionEntity, 'token_hash'>;

@Entity('sessions')
export class SessionEntity {
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Column({ type: 'bytea', select: false })
  readonly token_hash: Buffer;

  @Column({ type: 'uuid' })
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

@Entity('known_networks')
export class KnownNetworkEntity {
  @PrimaryColumn({ type: 'uuid' })
  readonly user_id: string;

  @PrimaryColumn({ type: 'text' })
  readonly network: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly last_seen_at: Date;
}
