import { sortWords } from '../../platform/paging/sort-words.js';
import type { LimitClass } from '../../platform/http/caller.js';
import type { PageRequest } from '../../platform/paging/page.js';
import type { ApiKeyEntity } from './api-key.entity.js';

export const API_KEY_SORTS = sortWords('created_at', 'name');
export type ApiKeySort = (typeof API_KEY_SORTS)[number];

export interface ApiKeyListRequest extends PageRequest {
  readonly sort: readonly ApiKeySort[];
  readonly created_by?: string;
}

/** A key without the hash of its secret, which reads leave out unless they ask for it. */
export type ApiKey = Omit<ApiKeyEntity, 'secret_hash' | 'owner'> & {
  /** The name of the user whose key it is. */
  readonly owner: string | null;
};

export type NewApiKey = Pick<ApiKeyEntity, 'id' | 'name' | 'role' | 'prefix' | 'secret_hash'> & {
  readonly limits: Partial<Readonly<Record<LimitClass, number>>>;
  readonly created_by: string;
  readonly owner_id?: string;
  readonly expiresInDays?: number;
};

/** What the audit record of a revocation says about the key. */
export type RevokedApiKey = Pick<ApiKeyEntity, 'id' | 'name' | 'role' | 'prefix'>;

/** The answer to the creation of a key: the only time that the key itself is known. */
export interface CreatedKey {
  readonly row: ApiKey;
  readonly key: string;
}
