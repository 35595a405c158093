import { sortWords } from '../../platform/paging/sort-words.js';
import type { UserEntity } from './user.entity.js';

export const USERNAME = /^[a-z0-9][a-z0-9._@-]{1,62}$/;

/** Audit records name `system` as the actor where neither a user nor a key acted. */
export const RESERVED_NAME = 'system';

export function isUsername(text: string): boolean {
  return USERNAME.test(text) && text !== RESERVED_NAME;
}

export const USER_SORTS = sortWords('created_at', 'username', 'name');
export type UserSort = (typeof USER_SORTS)[number];

/** What happens to the API keys of a user who is deleted. */
export const KEYS_OF_DELETED = ['revoke', 'keep'] as const;
export type KeysOfDeleted = (typeof KEYS_OF_DELETED)[number];

/** A user without the hash of the password, which reads leave out unless they ask for it. */
export type User = Omit<UserEntity, 'password_hash'>;

export type NewUser = Pick<UserEntity, 'id' | 'username' | 'role' | 'enabled'> & {
  readonly password_hash: string;
  readonly password_made_up?: boolean;
};

export interface UserChange {
  readonly role?: UserEntity['role'];
  readonly enabled?: boolean;
  readonly password_hash?: string;
}

/** The user whom a login names, with what is needed to check the password. */
export interface LoginUser extends UserEntity {
  /** Whether this user logged in from the network of this login before. */
  readonly known: boolean;
}
