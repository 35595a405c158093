import { type ActiveSwitch, KillSwitchRepository } from '../kill-switch/kill-switch.repository.js';
import type { ClientBase } from 'pg';
import type { Settings } from '../platform/config/settings.js';
import type { BackupPlan, RestorePlan } from '../platform/database/backup/backup-plan.js';
import type { KeyRing, SecretKeys } from '../platform/secrets/secret-keys.js';
import { acceptKeys, KNOWN, type KnownKey, refuseMissingKeys } from '../platform/secrets/known-keys.js';
import { givenSecretKeys } from '../platform/secrets/load-secret-keys.js';
import { type ActionsAcrossRestore, carryActionsOverRestore, noteActionsBeforeRestore } from '../actions/execution/actions-across-restore.js';
import { shownActionId } from '../actions/action-id.js';
import { recordAcceptance } from '../audit/anchor/accept-head.js';
import { AuditKeys } from '../audit/chain/audit-keys.js';
import { logOfCommand } from '../audit/audit-log.js';
import type { VerifiedBackup } from '../platform/database/backup/read-backup.js';
import { Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { IncidentCountsRepository } from '../incidents/counting/incident-counts.repository.js';
import { rememberKeysInUse, type KeyInUse, keysInUse } from '../platform/secrets/key-retirement.js';

/** Counts follow from the incidents; a session that has ended must not come to life again. */
export const EXCLUDED_TABLES = [
  'incident_count_deltas',
  'incident_counts',
  'incident_segments',
  'incident_count_state',
  'sessions',
] as const;

export function serviceBackupPlan(settings: Settings, withoutKey: boolean): BackupPlan {
  const given = withoutKey ? undefined : givenSecretKeys(settings);
  return {
    excludedTables: EXCLUDED_TABLES,
    keyIds: async (client) => {
      const known = await knownKeys(client);
      if (!withoutKey) refuseMissingKeys(settings, known, given);
      return known.filter(({ retired }) => !retired).map(({ id }) => id);
    },
    signerOf: (keyIds) => {
      const id = given?.ids.find((one) => keyIds.includes(one)) ?? given?.ids[0];
      return given && id ? backupKeys(given).find(id) : undefined;
    },
  };
}

/** The keys that sign backups, of a purpose of their own. */
export function backupKeys(keys: SecretKeys): KeyRing {
  return keys.derive('backup');
}

/** None where the database is of an earlier release, which did not keep them. */
async function knownKeys(client: ClientBase): Promise<KnownKey[]> {
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('secret_keys') is not null as there`,
  );
  return rows[0]?.there ? (await client.query<KnownKey>(KNOWN)).rows : [];
}

/** A record holds some; how many there are, it says. */
const MOST_NAMED = 50;

/**
 * What a restore must not undo: somebody stopped the automation, and vendors did what they were asked. The rest is as in
 * the backup.
 */
export class ServiceRestorePlan implements RestorePlan {
  readonly excludedTables = EXCLUDED_TABLES;
  private stopped: ActiveSwitch | undefined;
  private active: ActiveSwitch | undefined;
  private keys: readonly KeyInUse[] = [];
  private actions: ActionsAcrossRestore = { continued: [], lost: [] };

  constructor(
    private readonly settings: Settings,
    private readonly backup: VerifiedBackup,
    private readonly withoutKey: boolean,
  ) {}

  /** Each process was started with all keys that the database knew and had not given up. */
  async readableToAll(tx: Tx): Promise<boolean> {
    const known = await tx.query<KnownKey[]>(KNOWN);
    const here = known.filter(({ retired }) => !retired).map(({ id }) => id);
    return !this.withoutKey && this.backup.manifest.key_ids.every((id) => here.includes(id));
  }

  async remember(tx: Tx, inUse: boolean): Promise<void> {
    this.stopped = await killSwitchOf(tx).findActive(tx);
    this.keys = inUse ? await keysInUse(tx) : [];
    await noteActionsBeforeRestore(tx);
  }

  async rebuild(tx: Tx): Promise<void> {
    const killSwitch = killSwitchOf(tx);
    if (this.stopped) await killSwitch.keepActive(tx, this.stopped);
    this.active = await killSwitch.findActive(tx);
    this.actions = await carryActionsOverRestore(tx);
    await new IncidentCountsRepository(new Statements(tx.connection)).recount(tx);
    if (this.withoutKey) return;
    await rememberKeysInUse(tx, this.keys);
    await this.record(tx);
  }

  /** For the operator, once it is done. */
  summary(): string[] {
    const { continued, lost } = this.actions;
    const named = (ids: readonly string[]) => ids.map(shownActionId).join(', ');
    return [
      ...(this.active
        ? [
            `The kill switch is on, as ${this.stopped ? 'before the restore' : 'in the backup'}: ${this.active.activated_by} turned it on (${this.active.reason}).`,
          ]
        : []),
      ...(continued.length > 0
        ? [`They had gone on since the backup, and are where they were now: ${named(continued)}.`]
        : []),
      ...(lost.length > 0
        ? [`Their vendors were called, and the backup does not know them: ${named(lost)}.`]
        : []),
    ];
  }

  private async record(tx: Tx): Promise<void> {
    const keys = new AuditKeys(await acceptKeys(tx, this.settings));
    const log = logOfCommand(tx.connection, keys);
    const { created_at, version } = this.backup.manifest;
    const { continued, lost } = this.actions;
    await log.record(tx, {
      actor: 'system',
      action: 'database.restored',
      subject: { type: 'database', id: created_at },
      details: {
        backup_of: created_at,
        backup_by: version,
        kill_switch_kept_on: this.stopped && { ...this.stopped },
        ...someOf('actions_continued', continued),
        ...someOf('actions_lost', lost),
      },
    });
    // The trail ends earlier now than the service has seen it end.
    await recordAcceptance(tx, log, `restored the backup of ${created_at}`);
  }
}

function killSwitchOf({ connection }: Tx): KillSwitchRepository {
  return new KillSwitchRepository(connection, new Statements(connection));
}

function someOf(name: string, ids: readonly string[]): Record<string, unknown> {
  if (ids.length === 0) return {};
  return { [name]: { count: ids.length, ids: ids.slice(0, MOST_NAMED).map(shownActionId) } };
}
