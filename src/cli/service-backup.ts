// SQL: compares the restored tables with temporary tables.
import { stringify } from 'yaml';
import { shownActionId } from '../actions/action.js';
import {
  carryActionsOverRestore,
  noteActionsBeforeRestore,
} from '../actions/execution/action-endings.js';
import { logOfCommand } from '../audit/audit-log.js';
import { AuditKeys } from '../audit/chain/audit-chain.js';
import { recordAcceptance } from '../audit/chain/audit-witness.js';
import { timelineOfCommand } from '../incidents/timeline/incident-timeline.js';
import { findActiveSwitch, keepSwitchActive } from '../kill-switch/kill-switch.js';
import { disableChannels, endDeliveriesOfBackup } from '../notifications/deliveries.repository.js';
import type { Settings } from '../platform/config/settings.js';
import { inUseError, type Manifest, type Restore } from '../platform/database/backup.js';
import type { Tx } from '../platform/database/transactions.js';
import { acceptKeys, addKeys, neededKeys } from '../platform/secrets/secret-keys.js';
import { cancelRunsOverRestore } from '../playbooks/runs/run-records.js';

const MOST_NAMED = 50;

type RestoreChoices = Readonly<Record<'withoutKey' | 'quiet' | 'asItWas', boolean>>;

/** Also ends the work in progress. Unless `asItWas` is set, keeps the changes that a restore must not undo. */
export async function restoreService(
  tx: Tx,
  { inUse, load }: Restore,
  settings: Settings,
  { key_ids, created_at, version, tables }: Manifest,
  { withoutKey, quiet, asItWas }: RestoreChoices,
): Promise<string> {
  const keysInUse = inUse ? await neededKeys(tx) : [];
  const isReadable = key_ids.every((id) => keysInUse.includes(id));
  if (inUse && (withoutKey || !isReadable)) throw inUseError('was made with other keys');
  const switchBefore = asItWas ? undefined : await findActiveSwitch(tx);
  if (!asItWas) await noteAccessBeforeRestore(tx);
  await noteActionsBeforeRestore(tx);
  const rows = await load();
  if (switchBefore) await keepSwitchActive(tx, switchBefore);
  const access = asItWas ? {} : await carryAccessOverRestore(tx);
  const { failed, lost } = await carryActionsOverRestore(tx);
  const unsent = await endDeliveriesOfBackup(tx);
  const disabled = quiet ? await disableChannels(tx) : 0;
  // Adds the keys in use even if the backup is older than these keys, because they encrypt new values.
  if (!withoutKey) await addKeys(tx, keysInUse);
  const log = withoutKey
    ? undefined
    : logOfCommand(tx.dataSource, new AuditKeys(await acceptKeys(tx, settings)));
  const runs = await cancelRunsOverRestore(tx, timelineOfCommand(tx.dataSource), log);
  const details = {
    backup_of: created_at,
    backup_by: version,
    as_it_was: asItWas || undefined,
    ...access,
    kill_switch_kept_on: switchBefore && { ...switchBefore },
    kill_switch_on: switchBefore ? undefined : await findActiveSwitch(tx),
    actions_failed: countedIds(failed.map(shownActionId)),
    actions_lost: countedIds(lost.map(shownActionId)),
    notifications_unsent: unsent || undefined,
    notification_channels_disabled: disabled || undefined,
    playbook_runs_cancelled: countedIds(runs.map(({ id }) => id)),
  };
  if (log) {
    const subject = { type: 'database', id: created_at };
    await log.record(tx, { actor: 'system', action: 'database.restored', subject, details });
    // The restored trail lacks the newest entries. Without an acceptance, this would count as tampering.
    await recordAcceptance(tx, log, `restored the backup of ${created_at}`);
  }
  return `Restored ${rows} rows of ${tables.length} tables. All users must log in again.\n${stringify(details)}`;
}

/** Names few ids, because a long list would displace the other details of the audit record. */
const countedIds = (ids: readonly string[]) =>
  ids.length === 0 ? undefined : { count: ids.length, ids: ids.slice(0, MOST_NAMED) };

const NOTES = [
  'create temporary table keys_before on commit drop as select id, revoked_at from api_keys',
  'create temporary table users_before on commit drop as select id, enabled, deleted_at from users',
];

const CHANGES = {
  api_keys_kept_revoked: `
    update api_keys now set revoked_at = before.revoked_at from keys_before before
     where before.id = now.id and before.revoked_at is not null and now.revoked_at is null`,
  users_kept_deleted: `
    update users now set deleted_at = before.deleted_at, password_hash = null, updated_at = now() from users_before before
     where before.id = now.id and before.deleted_at is not null and now.deleted_at is null`,
  users_kept_disabled: `
    update users now set enabled = false, updated_at = now() from users_before before
     where before.id = now.id and now.deleted_at is null and not before.enabled and now.enabled`,
};

export async function noteAccessBeforeRestore(tx: Tx): Promise<void> {
  for (const statement of NOTES) await tx.query(statement);
}

/** Repeats revocations that the backup does not contain. Returns the number of changes by name, without zeros. */
export async function carryAccessOverRestore(tx: Tx): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [name, statement] of Object.entries(CHANGES)) {
    const [, changed] = await tx.query<[unknown, number]>(statement);
    if (changed > 0) counts[name] = changed;
  }
  return counts;
}
