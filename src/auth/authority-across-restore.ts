// SQL: a temporary table for users and one for keys, and updates that compare with them.
import { lowerRoleSql } from '../platform/access/roles.js';
import type { Tx } from '../platform/database/transactions.js';

/** Authority that was revoked after the backup and stays revoked after the restore. */
export interface AuthorityAcrossRestore {
  readonly keysRevoked: number;
  readonly usersDisabled: number;
  readonly usersDeleted: number;
  readonly rolesLowered: number;
  readonly passwordsChanged: number;
  /** The backup has enabled admins, but none is left after the restore. */
  readonly nobodyAdministers: boolean;
}

/** Stores the revoked keys and all users. Call it in the transaction of the restore, before the content is replaced. */
export async function noteAuthorityBeforeRestore(tx: Tx): Promise<void> {
  await tx.query(
    `create temporary table keys_before_restore on commit drop as
       select id, revoked_at from api_keys where revoked_at is not null`,
  );
  await tx.query(
    `create temporary table users_before_restore on commit drop as
       select id, role, enabled, password_hash, deleted_at, updated_at,
              coalesce((to_jsonb(users) ->> 'password_made_up')::boolean, false) as password_made_up
         from users`,
  );
}

/**
 * Revokes again what was revoked before the restore. Call it after the content was replaced. The password of the row
 * that changed later is kept, so a backup that is newer than the database keeps its own.
 */
export async function carryAuthorityOverRestore(tx: Tx): Promise<AuthorityAcrossRestore> {
  const change = async (statement: string): Promise<number> =>
    (await tx.query<[unknown, number]>(statement))[1];
  const changeUsers = (set: string, where: string) =>
    change(`update users set ${set}, updated_at = greatest(users.updated_at, before.updated_at)
              from pg_temp.users_before_restore before
             where before.id = users.id and users.deleted_at is null and ${where}`);
  const keysRevoked = await change(
    `update api_keys key set revoked_at = before.revoked_at
       from pg_temp.keys_before_restore before where before.id = key.id and key.revoked_at is null`,
  );
  const usersDeleted = await changeUsers(
    'deleted_at = before.deleted_at, password_hash = null',
    'before.deleted_at is not null',
  );
  // Comes first: the other updates make the row as late as it was before the restore.
  const passwordsChanged = await changeUsers(
    'password_hash = before.password_hash, password_made_up = before.password_made_up',
    'before.password_hash <> users.password_hash and before.updated_at >= users.updated_at',
  );
  const usersDisabled = await changeUsers(
    'enabled = false',
    'not before.enabled and users.enabled',
  );
  const lower = lowerRoleSql('before.role', 'users.role');
  const rolesLowered = await changeUsers(`role = ${lower}`, `users.role <> ${lower}`);
  const [admins] = await tx.query<{ none: boolean }[]>(
    `select not exists (select from users where role = 'admin' and enabled and deleted_at is null) as none`,
  );
  const nobodyAdministers = usersDeleted + usersDisabled + rolesLowered > 0 && admins!.none;
  return {
    keysRevoked,
    usersDisabled,
    usersDeleted,
    rolesLowered,
    passwordsChanged,
    nobodyAdministers,
  };
}
