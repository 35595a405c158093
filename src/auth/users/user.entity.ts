import { Check, Column, Entity, Index, PrimaryColumn, Unique } from 'typeorm';
import type { AuditEntry } from '../../audit/audit-entry.js';
import type { Role } from '../../platform/access/roles.js';
import { RowTimes } from '../../platform/database/columns.js';

@Entity('users')
@Unique('uq_users_username', ['username'])
@Check('ck_users_username', `username ~ '^[a-z0-9][a-z0-9._@-]{1,62}$' and username <> 'system'`)
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

  /** Null after the user is deleted. Queries must select it explicitly. */
  @Column({ type: 'text', nullable: true, select: false })
  readonly password_hash: string | null;

  /** True while the generated password of the first start is in use. */
  @Column({ type: 'boolean', default: false })
  readonly password_made_up: boolean;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_login_at: Date | null;
}

export const USERNAME = /^[a-z0-9][a-z0-9._@-]{1,62}$/;

/** Actor in audit records without a user and without a key. */
export const RESERVED_NAME = 'system';

export function isUsername(text: string): boolean {
  return USERNAME.test(text) && text !== RESERVED_NAME;
}

export const KEYS_OF_DELETED = ['revoke', 'keep'] as const;
export type KeysOfDeleted = (typeof KEYS_OF_DELETED)[number];

export type User = Omit<UserEntity, 'password_hash'>;

export type NewUser = Pick<UserEntity, 'id' | 'username' | 'role' | 'enabled'> & {
  readonly password_hash: string;
  readonly password_made_up?: boolean;
};

export type UserChange = Partial<Pick<NewUser, 'role' | 'enabled' | 'password_hash'>>;

/** User of a login, with the data to check the password. */
export interface LoginUser extends UserEntity {
  /** True if this user has logged in from this network before. */
  readonly known: boolean;
}

/** Audit record of a change of a user, or of a login. */
export function userEntry(
  actor: string,
  action: AuditEntry['action'],
  username: string,
  details: AuditEntry['details'],
): AuditEntry {
  return { actor, action, subject: { type: 'user', id: username }, details };
}
