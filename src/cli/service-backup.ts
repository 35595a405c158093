// SQL: a backup reads in its own snapshot; a restore compares with temporary tables.
import {
  type ActiveSwitch,
  findActiveSwitch,
  keepSwitchActive,
} from '../kill-switch/kill-switch.js';
import type { Settings } from '../platform/config/settings.js';
import type { BackupPlan, RestorePlan } from '../platform/database/backup/backup-format.js';
import { givenSecretKeys } from '../platform/secrets/load-secret-keys.js';
import { acceptKeys, type KnownKey, requireKeysOf } from '../platform/secrets/known-keys.js';
import {
  type ActionsAcrossRestore,
  carryActionsOverRestore,
  noteActionsBeforeRestore,
} from '../actions/execution/actions-across-restore.js';
import { shownActionId } from '../actions/action.js';
import { disableChannels, endDeliveriesOfBackup } from '../notifications/deliveries.repository.js';
import type { PlaybookRun } from '../playbooks/runs/playbook-run.js';
import {
  type IncidentTimeline,
  timelineOfCommand,
} from '../incidents/timeline/incident-timeline.js';
import { recordAcceptance } from '../audit/chain/audit-witness.js';
import { AuditKeys } from '../audit/chain/audit-chain.js';
import { logOfCommand } from '../audit/audit-log.js';
import type { VerifiedBackup } from '../platform/database/backup/read-backup.js';
import type { Tx } from '../platform/database/transactions.js';
import {
  type SecretKeyEntity,
  SecretKeysRepository,
} from '../platform/secrets/secret-keys.repository.js';
import type { ClientBase } from 'pg';
import { cancelRunsOverRestore } from '../playbooks/runs/run-records.js';

/** Ended sessions must not become valid again. */
export const EXCLUDED_TABLES = ['sessions'] as const;

/** Tables that a backup omits, and the keys that it needs. */
export function serviceBackupPlan(settings: Settings, withoutKey: boolean): BackupPlan {
  return {
    excludedTables: EXCLUDED_TABLES,
    keyIds: async (client) => {
      const known = await knownKeys(client);
      if (!withoutKey) requireKeysOf(known, settings, givenSecretKeys(settings));
      return known.filter(({ retired_at }) => !retired_at).map(({ id }) => id);
    },
  };
}

async function knownKeys(client: ClientBase): Promise<KnownKey[]> {
  const { rows } = await client.query<KnownKey>(
    'select id, verifier, retired_at from secret_keys order by known_since, id',
  );
  return rows;
}

/** Maximum number of actions or runs in an audit record. The record has the total. */
const MOST_NAMED = 50;

/**
 * What a restore must not undo: an active kill switch, revoked keys and disabled users. With `asItWas` they come from the
 * backup. Actions that were in progress fail, because their outcome is unknown. Notifications
 * that were pending in the backup stay unsent, and open playbook runs are cancelled. Everything else becomes as in the
 * backup.
 */
export class ServiceRestorePlan implements RestorePlan {
  readonly excludedTables = EXCLUDED_TABLES;
  private switchBefore: ActiveSwitch | undefined;
  private switchNow: ActiveSwitch | undefined;
  private keysInUse: readonly SecretKeyEntity[] = [];
  private actions: ActionsAcrossRestore = { failed: [], lost: [] };
  private unsent = 0;
  private channelsDisabled = 0;
  private access: AccessAcrossRestore | undefined;
  private cancelledRuns: readonly PlaybookRun[] = [];

  constructor(
    private readonly settings: Settings,
    private readonly backup: VerifiedBackup,
    private readonly withoutKey: boolean,
    private readonly quiet: boolean,
    private readonly asItWas: boolean,
  ) {}

  /** Each running process has all keys that the current database needs. */
  async readableToAll(tx: Tx): Promise<boolean> {
    const needed = (await neededKeys(tx)).map(({ id }) => id);
    return !this.withoutKey && this.backup.manifest.key_ids.every((id) => needed.includes(id));
  }

  async remember(tx: Tx, inUse: boolean): Promise<void> {
    if (!this.asItWas) {
      this.switchBefore = await findActiveSwitch(tx);
      await noteAccessBeforeRestore(tx);
    }
    if (inUse) this.keysInUse = await neededKeys(tx);
    await noteActionsBeforeRestore(tx);
  }

  async rebuild(tx: Tx): Promise<void> {
    if (this.switchBefore) await keepSwitchActive(tx, this.switchBefore);
    this.switchNow = await findActiveSwitch(tx);
    if (!this.asItWas) this.access = await carryAccessOverRestore(tx);
    this.actions = await carryActionsOverRestore(tx);
    this.unsent = await endDeliveriesOfBackup(tx);
    if (this.quiet) this.channelsDisabled = await disableChannels(tx);
    const timeline = timelineOfCommand(tx.dataSource);
    if (this.withoutKey) {
      this.cancelledRuns = await cancelRunsOverRestore(tx, timeline);
      return;
    }
    // Needed even if the backup is older than these keys: new values are sealed with them.
    await new SecretKeysRepository(tx.dataSource).insertIfNew(tx, this.keysInUse);
    await this.record(tx, timeline);
  }

  /** Summary for the operator, one line per fact. */
  summary(): string[] {
    const { failed, lost } = this.actions;
    const named = (ids: readonly string[]) => ids.map(shownActionId).join(', ');
    const lines: string[] = [];
    if (this.switchNow) {
      const { activated_by, reason } = this.switchNow;
      lines.push(
        `The kill switch is on, as ${this.switchBefore ? 'before the restore' : 'in the backup'}: ${activated_by} turned it on (${reason}).`,
      );
    }
    lines.push(...accessLines(this.access));
    if (failed.length > 0) {
      lines.push(
        `Actions that were in progress in the backup. Check their outcome at the vendor: ${named(failed)}.`,
      );
    }
    if (lost.length > 0) {
      lines.push(`Actions that vendors executed but the backup does not contain: ${named(lost)}.`);
    }
    if (this.cancelledRuns.length > 0) {
      lines.push(
        `Playbook runs that were open in the backup and are cancelled: ${this.cancelledRuns.length}.`,
      );
    }
    const { unsent, channelsDisabled } = this;
    if (unsent > 0) {
      lines.push(
        `Notifications that were pending in the backup and stay unsent: ${unsent}. They can be redelivered.`,
      );
    }
    if (channelsDisabled > 0) {
      lines.push(
        `Notification channels that were enabled and are now disabled: ${channelsDisabled}.`,
      );
    }
    return lines;
  }

  private async record(tx: Tx, timeline: IncidentTimeline): Promise<void> {
    const keys = new AuditKeys(await acceptKeys(tx, this.settings));
    const log = logOfCommand(tx.dataSource, keys);
    const { created_at, version } = this.backup.manifest;
    const { failed, lost } = this.actions;
    this.cancelledRuns = await cancelRunsOverRestore(tx, timeline, log);
    await log.record(tx, {
      actor: 'system',
      action: 'database.restored',
      subject: { type: 'database', id: created_at },
      details: {
        backup_of: created_at,
        backup_by: version,
        as_it_was: this.asItWas || undefined,
        ...this.access,
        kill_switch_kept_on: this.switchBefore && { ...this.switchBefore },
        actions_failed: countedIds(failed.map(shownActionId)),
        actions_lost: countedIds(lost.map(shownActionId)),
        notifications_unsent: this.unsent || undefined,
        notification_channels_disabled: this.channelsDisabled || undefined,
        playbook_runs_cancelled: countedIds(this.cancelledRuns.map(({ id }) => id)),
      },
    });
    // The restored trail ends earlier than the last known end, which would count as tampering.
    await recordAcceptance(tx, log, `restored the backup of ${created_at}`);
  }
}

async function neededKeys(tx: Tx): Promise<SecretKeyEntity[]> {
  const known = await new SecretKeysRepository(tx.dataSource).list(tx);
  return known.filter(({ retired_at }) => !retired_at);
}

function countedIds(ids: readonly string[]): { count: number; ids: string[] } | undefined {
  if (ids.length === 0) return undefined;
  return { count: ids.length, ids: ids.slice(0, MOST_NAMED) };
}

/** Columns that the restore compares, by table. */
const COMPARED = { api_keys: 'id, revoked_at', users: 'id, enabled, deleted_at' };

const change = (table: keyof typeof COMPARED, set: string, where: string) =>
  `update ${table} now set ${set} from pg_temp.${table}_before_restore before where before.id = now.id and ${where}`;

/** Statements in the order in which they run, by their name in the record `database.restored`. */
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

/** Number of changes by name, without zeros. */
type AccessAcrossRestore = Readonly<Partial<Record<keyof typeof CHANGES, number>>>;

/** Stores the state before the restore. Call it in the transaction of the restore, before the content is replaced. */
export async function noteAccessBeforeRestore(tx: Tx): Promise<void> {
  for (const [table, columns] of Object.entries(COMPARED)) {
    await tx.query(
      `create temporary table ${table}_before_restore on commit drop as select ${columns} from ${table}`,
    );
  }
}

/** Takes away again what was taken away before the restore. Call it after the content is replaced. */
export async function carryAccessOverRestore(tx: Tx): Promise<AccessAcrossRestore> {
  const counts: Record<string, number> = {};
  for (const [name, statement] of Object.entries(CHANGES)) {
    const [, changed] = await tx.query<[unknown, number]>(statement);
    if (changed > 0) counts[name] = changed;
  }
  return counts;
}

function accessLines(kept: AccessAcrossRestore | undefined): string[] {
  if (!kept) {
    return [
      'Keys, users and the kill switch are as in the backup. Revoke again what was revoked since.',
    ];
  }
  const counts = Object.entries(kept).map(
    ([name, count]) => `${count} ${name.replaceAll('_', ' ')}`,
  );
  return counts.length === 0 ? [] : [`Access that ended since the backup: ${counts.join(', ')}.`];
}
