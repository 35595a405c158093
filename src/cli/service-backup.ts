// SQL: a backup reads in its own snapshot; a restore compares with temporary tables.
import type { ClientBase } from 'pg';
import { shownActionId } from '../actions/action.js';
import {
  carryActionsOverRestore,
  noteActionsBeforeRestore,
} from '../actions/execution/actions-across-restore.js';
import { logOfCommand } from '../audit/audit-log.js';
import { AuditKeys } from '../audit/chain/audit-chain.js';
import { recordAcceptance } from '../audit/chain/audit-witness.js';
import { timelineOfCommand } from '../incidents/timeline/incident-timeline.js';
import {
  type ActiveSwitch,
  findActiveSwitch,
  keepSwitchActive,
} from '../kill-switch/kill-switch.js';
import { disableChannels, endDeliveriesOfBackup } from '../notifications/deliveries.repository.js';
import type { Settings } from '../platform/config/settings.js';
import type { Backup } from '../platform/database/backup/backup-file.js';
import type { RestorePlan } from '../platform/database/backup/restore-backup.js';
import type { Tx } from '../platform/database/transactions.js';
import { givenSecretKeys } from '../platform/secrets/load-secret-keys.js';
import {
  acceptKeys,
  addKeys,
  type KnownKey,
  neededKeys,
  requireKeysOf,
  type SecretKeyEntity,
} from '../platform/secrets/secret-keys.js';
import { cancelRunsOverRestore } from '../playbooks/runs/run-records.js';

/** Ended sessions must not become valid again. */
export const EXCLUDED_TABLES = ['sessions'] as const;

/** Returns the ids of the keys that a backup needs. Throws if keys are missing, unless `withoutKey`. */
export async function keysOfBackup(
  client: ClientBase,
  settings: Settings,
  withoutKey: boolean,
): Promise<string[]> {
  const { rows: known } = await client.query<KnownKey>(
    'select id, verifier, retired_at from secret_keys order by known_since, id',
  );
  if (!withoutKey) requireKeysOf(known, settings, givenSecretKeys(settings));
  return known.filter(({ retired_at }) => !retired_at).map(({ id }) => id);
}

interface RestoreChoices {
  readonly withoutKey: boolean;
  readonly quiet: boolean;
  readonly asItWas: boolean;
}

const MOST_NAMED = 50;

/** Preserves the changes that a restore must not undo, unless `asItWas`, and ends the work in progress. */
export class ServiceRestorePlan implements RestorePlan {
  summary: readonly string[] = [];
  private switchBefore: ActiveSwitch | undefined;
  private keysInUse: readonly SecretKeyEntity[] = [];

  constructor(
    private readonly settings: Settings,
    private readonly backup: Backup,
    private readonly choices: RestoreChoices,
  ) {}

  /** True if each running process has all keys of the backup. */
  async readableToAll(tx: Tx): Promise<boolean> {
    const needed = (await neededKeys(tx)).map(({ id }) => id);
    return (
      !this.choices.withoutKey && this.backup.manifest.key_ids.every((id) => needed.includes(id))
    );
  }

  async remember(tx: Tx, inUse: boolean): Promise<void> {
    if (!this.choices.asItWas) {
      this.switchBefore = await findActiveSwitch(tx);
      await noteAccessBeforeRestore(tx);
    }
    if (inUse) this.keysInUse = await neededKeys(tx);
    await noteActionsBeforeRestore(tx);
  }

  async rebuild(tx: Tx): Promise<void> {
    const { withoutKey, quiet, asItWas } = this.choices;
    if (this.switchBefore) await keepSwitchActive(tx, this.switchBefore);
    const switchNow = await findActiveSwitch(tx);
    const access = asItWas ? undefined : await carryAccessOverRestore(tx);
    const { failed, lost } = await carryActionsOverRestore(tx);
    const unsent = await endDeliveriesOfBackup(tx);
    const disabled = quiet ? await disableChannels(tx) : 0;
    // Needed even if the backup is older than these keys: they seal new values.
    if (!withoutKey) await addKeys(tx, this.keysInUse);
    const log = withoutKey
      ? undefined
      : logOfCommand(tx.dataSource, new AuditKeys(await acceptKeys(tx, this.settings)));
    const runs = await cancelRunsOverRestore(tx, timelineOfCommand(tx.dataSource), log);

    const facts: readonly (readonly [unknown, string])[] = [
      [
        switchNow,
        `The kill switch is on, as ${this.switchBefore ? 'before the restore' : 'in the backup'}: ${switchNow?.activated_by} turned it on (${switchNow?.reason}).`,
      ],
      [
        asItWas,
        'Keys, users and the kill switch are as in the backup. Revoke again what was revoked since.',
      ],
      [
        Object.keys(access ?? {}).length,
        `Access that ended since the backup: ${Object.entries(access ?? {})
          .map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`)
          .join(', ')}.`,
      ],
      [
        failed.length,
        `Actions that were in progress in the backup. Check their outcome at the vendor: ${failed.map(shownActionId).join(', ')}.`,
      ],
      [
        lost.length,
        `Actions that vendors executed but the backup does not contain: ${lost.map(shownActionId).join(', ')}.`,
      ],
      [
        runs.length,
        `Playbook runs that were open in the backup and are cancelled: ${runs.length}.`,
      ],
      [
        unsent,
        `Notifications that were pending in the backup and stay unsent: ${unsent}. They can be redelivered.`,
      ],
      [disabled, `Notification channels that were enabled and are now disabled: ${disabled}.`],
    ];
    this.summary = facts.filter(([isSo]) => isSo).map(([, line]) => line);
    if (!log) return;
    const { created_at, version } = this.backup.manifest;
    await log.record(tx, {
      actor: 'system',
      action: 'database.restored',
      subject: { type: 'database', id: created_at },
      details: {
        backup_of: created_at,
        backup_by: version,
        as_it_was: asItWas || undefined,
        ...access,
        kill_switch_kept_on: this.switchBefore && { ...this.switchBefore },
        actions_failed: countedIds(failed.map(shownActionId)),
        actions_lost: countedIds(lost.map(shownActionId)),
        notifications_unsent: unsent || undefined,
        notification_channels_disabled: disabled || undefined,
        playbook_runs_cancelled: countedIds(runs.map(({ id }) => id)),
      },
    });
    // The restored trail ends before the last known entry, which would count as tampering.
    await recordAcceptance(tx, log, `restored the backup of ${created_at}`);
  }
}

function countedIds(ids: readonly string[]): { count: number; ids: string[] } | undefined {
  if (ids.length === 0) return undefined;
  return { count: ids.length, ids: ids.slice(0, MOST_NAMED) };
}

const COMPARED = { api_keys: 'id, revoked_at', users: 'id, enabled, deleted_at' };

const change = (table: keyof typeof COMPARED, set: string, where: string) =>
  `update ${table} now set ${set} from pg_temp.${table}_before_restore before where before.id = now.id and ${where}`;

/** Statements in the order of execution. Each key is the name of the count in the record `database.restored`. */
const CHANGES = {
  api_keys_kept_revoked: change(
    'api_keys',
    'revoked_at = before.revoked_at',
    'before.revoked_at is not null and now.revoked_at is null',
  ),
  users_kept_deleted: change(
    'users',
    'deleted_at = before.deleted_at, password_hash = null, updated_at = now()',
    'before.deleted_at is not null and now.deleted_at is null',
  ),
  users_kept_disabled: change(
    'users',
    'enabled = false, updated_at = now()',
    'now.deleted_at is null and not before.enabled and now.enabled',
  ),
};

export async function noteAccessBeforeRestore(tx: Tx): Promise<void> {
  for (const [table, columns] of Object.entries(COMPARED)) {
    await tx.query(
      `create temporary table ${table}_before_restore on commit drop as select ${columns} from ${table}`,
    );
  }
}

/** Revokes access again that was revoked before the restore. Returns the number of changes by name, without zeros. */
export async function carryAccessOverRestore(tx: Tx): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [name, statement] of Object.entries(CHANGES)) {
    const [, changed] = await tx.query<[unknown, number]>(statement);
    if (changed > 0) counts[name] = changed;
  }
  return counts;
}
