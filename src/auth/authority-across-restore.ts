// SQL: temporary tables, and updates that compare with them.
import type { Tx } from '../platform/database/transactions.js';

/** What a restore leaves ended although the backup still had it. */
export interface AuthorityAcrossRestore {
  readonly keysRevoked: number;
  readonly usersDisabled: number;
  readonly usersDeleted: number;
  /** Every admin of the backup is disabled or deleted: somebody has to make one. */
  readonly nobodyAdministers: boolean;
}

/** Keeps who has lost access. To be called before the content of the database is replaced, in the same transaction. */
export async function noteAuthorityBeforeRestore(tx: Tx): Promise<void> {
  const [table] = await tx.query<{ there: boolean }[]>(
    `select to_regclass('api_keys') is not null and to_regclass('users') is not null as there`,
  );
  if (!table?.there) return;
  await tx.query(
    `create temporary table keys_before_restore on commit drop as
       select id, revoked_at from api_keys where revoked_at is not null`,
  );
  await tx.query(
    `create temporary table users_before_restore on commit drop as
       select id, deleted_at, updated_at from users where not enabled or deleted_at is not null`,
  );
}

/** Revokes, disables and deletes again what had lost access before the restore. To be called when the content has been replaced. */
export async function carryAuthorityOverRestore(tx: Tx): Promise<AuthorityAcrossRestore> {
  const [noted] = await tx.query<{ there: boolean }[]>(
    `select to_regclass('pg_temp.users_before_restore') is not null as there`,
  );
  const none = { keysRevoked: 0, usersDisabled: 0, usersDeleted: 0, nobodyAdministers: false };
  if (!noted?.there) return none;
  const [, keysRevoked] = await tx.query<[unknown, number]>(
    `update api_keys key set revoked_at = before.revoked_at
       from pg_temp.keys_before_restore before where before.id = key.id and key.revoked_at is null`,
  );
  const [, usersDeleted] = await tx.query<[unknown, number]>(
    `update users set deleted_at = before.deleted_at, updated_at = before.updated_at, password_hash = null
       from pg_temp.users_before_restore before
      where before.id = users.id and before.deleted_at is not null and users.deleted_at is null`,
  );
  const [, usersDisabled] = await tx.query<[unknown, number]>(
    `update users set enabled = false, updated_at = before.updated_at
       from pg_temp.users_before_restore before
      where before.id = users.id and before.deleted_at is null and users.enabled and users.deleted_at is null`,
  );
  const [admins] = await tx.query<{ none: boolean }[]>(
    `select not exists (select from users where role = 'admin' and enabled and deleted_at is null) as none`,
  );
  const nobodyAdministers = usersDeleted + usersDisabled > 0 && admins!.none;
  return { keysRevoked, usersDisabled, usersDeleted, nobodyAdministers };
}
