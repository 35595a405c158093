import type { Role } from '../../platform/access/roles.js';
import type { LimitClass } from '../../platform/http/caller.js';
import type { PageRequest } from '../../platform/paging/page.js';

export const API_KEY_SORTS = ['-created_at', 'created_at', '-name', 'name'] as const;
export type ApiKeySort = (typeof API_KEY_SORTS)[number];

export interface ApiKeyListRequest extends PageRequest {
  readonly sort: ApiKeySort;
  readonly created_by?: string;
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly prefix: string;
  readonly limit_read: number | null;
  readonly limit_write: number | null;
  readonly limit_triage: number | null;
  readonly created_by: string;
  /** The user behind it. */
  readonly owner: string | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
}

export interface NewApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly prefix: string;
  readonly secretHash: Buffer;
  readonly limits: Partial<Readonly<Record<LimitClass, number>>>;
  readonly createdBy: string;
  readonly ownerId?: string;
  readonly expiresInDays?: number;
}

/** The only time that the key itself is known. */
export interface CreatedKey {
  readonly row: ApiKey;
  readonly key: string;
}
