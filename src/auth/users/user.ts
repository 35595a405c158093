import type { Role } from '../../platform/access/roles.js';

export const USERNAME = /^[a-z0-9][a-z0-9._@-]{1,62}$/;

/** Records say `system` where nobody in particular acted. */
export const RESERVED_NAME = 'system';

export function isUsername(text: string): boolean {
  return USERNAME.test(text) && text !== RESERVED_NAME;
}

export const USER_SORTS = [
  '-created_at',
  'created_at',
  '-username',
  'username',
  '-name',
  'name',
] as const;
export type UserSort = (typeof USER_SORTS)[number];

/** What becomes of the keys of a user who is deleted. */
export const KEYS_OF_DELETED = ['revoke', 'keep'] as const;
export type KeysOfDeleted = (typeof KEYS_OF_DELETED)[number];

export interface User {
  readonly id: string;
  readonly username: string;
  readonly role: Role;
  readonly enabled: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_login_at: Date | null;
}

export interface NewUser {
  readonly id: string;
  readonly username: string;
  readonly role: Role;
  readonly enabled: boolean;
  readonly passwordHash: string;
  /** By the first start, for nobody in particular. */
  readonly passwordMadeUp?: boolean;
}

export interface UserChange {
  readonly role?: Role;
  readonly enabled?: boolean;
  readonly passwordHash?: string;
}
