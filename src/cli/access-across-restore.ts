// SQL: temporary tables with the state before the restore, and updates that compare with them.
import { lowerRoleSql } from '../platform/access/roles.js';
import type { Tx } from '../platform/database/transactions.js';

/** Columns that the restore compares, by table. */
const COMPARED = {
  api_keys: 'id, revoked_at',
  users: 'id, role, enabled, password_hash, password_made_up, deleted_at, updated_at',
  connectors: 'id, enabled, version, deleted_at',
  notification_channels: 'id, enabled, version, deleted_at',
};

/** Stores the state before the restore. Call it in the transaction of the restore, before the content is replaced. */
export async function noteAccessBeforeRestore(tx: Tx): Promise<void> {
  for (const [table, columns] of Object.entries(COMPARED)) {
    await tx.query(
      `create temporary table ${table}_before_restore on commit drop as select ${columns} from ${table}`,
    );
  }
}

const change = (table: keyof typeof COMPARED, set: string, where: string) =>
  `update ${table} now set ${set} from pg_temp.${table}_before_restore before where before.id = now.id and ${where}`;

const ofUsers = (set: string, where: string) =>
  change(
    'users',
    `${set}, updated_at = greatest(now.updated_at, before.updated_at)`,
    `now.deleted_at is null and ${where}`,
  );

/** A process remembers a connector or channel by its version. */
const ofTargets = (table: 'connectors' | 'notification_channels', set: string, where: string) =>
  change(
    table,
    `enabled = false, ${set} version = greatest(now.version, before.version) + 1, updated_at = now()`,
    `now.deleted_at is null and ${where}`,
  );

const DELETED = `deleted_at = before.deleted_at, secrets = null, secret_names = '{}',`;
const WAS_DELETED = 'before.deleted_at is not null';
const WAS_DISABLED = 'not before.enabled and now.enabled';
const LOWER_ROLE = lowerRoleSql('before.role', 'now.role');

/** Statements in the order in which they run, by their name in the record `database.restored`. */
const CHANGES = {
  api_keys_kept_revoked: change(
    'api_keys',
    'revoked_at = before.revoked_at',
    'before.revoked_at is not null and now.revoked_at is null',
  ),
  users_kept_deleted: ofUsers('deleted_at = before.deleted_at, password_hash = null', WAS_DELETED),
  // Before the other updates, which make the row as late as it was. A later password in the backup stays.
  passwords_kept_changed: ofUsers(
    'password_hash = before.password_hash, password_made_up = before.password_made_up',
    'before.password_hash <> now.password_hash and before.updated_at >= now.updated_at',
  ),
  users_kept_disabled: ofUsers('enabled = false', WAS_DISABLED),
  roles_kept_lowered: ofUsers(`role = ${LOWER_ROLE}`, `now.role <> ${LOWER_ROLE}`),
  connectors_kept_deleted: ofTargets('connectors', DELETED, WAS_DELETED),
  connectors_kept_disabled: ofTargets('connectors', '', WAS_DISABLED),
  notification_channels_kept_deleted: ofTargets(
    'notification_channels',
    `${DELETED} config = '{}', former_secret = null, former_secret_until = null,`,
    WAS_DELETED,
  ),
  notification_channels_kept_disabled: ofTargets('notification_channels', '', WAS_DISABLED),
};

/** Number of changes by name. */
export type AccessAcrossRestore = Readonly<Record<keyof typeof CHANGES, number>>;

/** Takes away again what was taken away before the restore. Call it after the content is replaced. */
export async function carryAccessOverRestore(tx: Tx): Promise<AccessAcrossRestore> {
  const counts: Record<string, number> = {};
  for (const [name, statement] of Object.entries(CHANGES)) {
    const [, changed] = await tx.query<[unknown, number]>(statement);
    counts[name] = changed;
  }
  return counts as AccessAcrossRestore;
}

export async function isWithoutAdmin(tx: Tx): Promise<boolean> {
  const admins = await tx.query<unknown[]>(
    `select from users where role = 'admin' and enabled and deleted_at is null limit 1`,
  );
  return admins.length === 0;
}
