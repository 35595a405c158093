// SQL: a backup reads in a snapshot of its own, on its own connection, also of earlier releases.
import { type ActiveSwitch, KillSwitchRepository } from '../kill-switch/kill-switch.repository.js';
import type { Settings } from '../platform/config/settings.js';
import type { BackupPlan, RestorePlan } from '../platform/database/backup/backup-plan.js';
import type { KeyRing, SecretKeys } from '../platform/secrets/secret-keys.js';
import { acceptKeys, type KnownKey, requireKeysOf } from '../platform/secrets/known-keys.js';
import { givenSecretKeys } from '../platform/secrets/load-secret-keys.js';
import {
  type ActionsAcrossRestore,
  carryActionsOverRestore,
  noteActionsBeforeRestore,
} from '../actions/execution/actions-across-restore.js';
import {
  type AuthorityAcrossRestore,
  carryAuthorityOverRestore,
  noteAuthorityBeforeRestore,
} from '../auth/authority-across-restore.js';
import { shownActionId } from '../actions/action-id.js';
import {
  cancelRunsOverRestore,
  dropTriagesOfRunsBefore,
  noteRunsBeforeRestore,
  tellOfCancelledRuns,
} from '../playbooks/runs/runs-across-restore.js';
import {
  carryDeliveriesOverRestore,
  type DeliveriesAcrossRestore,
  noteDeliveriesBeforeRestore,
} from '../notifications/records/deliveries-across-restore.js';
import type { PlaybookRunSummary } from '../playbooks/runs/playbook-run.js';
import { timelineOfCommand } from '../incidents/timeline/incident-timeline.js';
import { recordAcceptance } from '../audit/anchor/accept-head.js';
import { AuditKeys } from '../audit/chain/audit-keys.js';
import { type AuditLog, logOfCommand } from '../audit/audit-log.js';
import { sendUnhandledEventsAgain } from '../platform/jobs/events/unhandled-events.js';
import type { VerifiedBackup } from '../platform/database/backup/read-backup.js';
import { Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { IncidentCountsRepository } from '../incidents/counting/incident-counts.repository.js';
import { type KeyInUse, SecretKeysRepository } from '../platform/secrets/secret-keys.repository.js';
import type { ClientBase } from 'pg';

/** Counts are made anew from the incidents, and a session that has ended must not become valid again. */
export const EXCLUDED_TABLES = [
  'incident_count_deltas',
  'incident_counts',
  'incident_segments',
  'incident_count_state',
  'sessions',
] as const;

/** What a backup of this service leaves out, and which keys it needs. */
export function serviceBackupPlan(settings: Settings, withoutKey: boolean): BackupPlan {
  const given = withoutKey ? undefined : givenSecretKeys(settings);
  return {
    excludedTables: EXCLUDED_TABLES,
    keyIds: async (client) => {
      const known = await knownKeys(client);
      if (!withoutKey) requireKeysOf(known, settings, given);
      return known.filter(({ retired_at }) => !retired_at).map(({ id }) => id);
    },
    signerOf: (keyIds) => {
      const id = given?.ids.find((one) => keyIds.includes(one)) ?? given?.ids[0];
      return given && id ? backupKeys(given).find(id) : undefined;
    },
  };
}

/** Backups are signed with keys that are used for nothing else. */
export function backupKeys(keys: SecretKeys): KeyRing {
  return keys.derive('backup');
}

/** A database of an earlier release has no such table, and so no keys. */
async function knownKeys(client: ClientBase): Promise<KnownKey[]> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    `select to_regclass('secret_keys') is not null as there`,
  );
  if (!tables[0]?.there) return [];
  const { rows } = await client.query<KnownKey>(
    'select id, verifier, retired_at from secret_keys order by known_since, id',
  );
  return rows;
}

/** An audit record names no more actions or runs than this; it says how many there are. */
const MOST_NAMED = 50;

/**
 * What a restore must not undo: a kill switch that somebody turned on, keys and users that lost access, actions that vendors
 * carried out since the backup, and notifications that arrived. With `asItWas` switch, keys and users are those of the backup. A playbook run that would do its steps again does not go on. Everything else becomes what it was in the backup.
 */
export class ServiceRestorePlan implements RestorePlan {
  readonly excludedTables = EXCLUDED_TABLES;
  private switchBefore: ActiveSwitch | undefined;
  private switchNow: ActiveSwitch | undefined;
  private keysInUse: readonly KeyInUse[] = [];
  private actions: ActionsAcrossRestore = { continued: [], lost: [] };
  private deliveries: DeliveriesAcrossRestore = { sent: 0, channelsDisabled: 0 };
  private authority: AuthorityAcrossRestore | undefined;
  private runsNotRepeated = 0;
  private cancelledRuns: readonly PlaybookRunSummary[] = [];

  constructor(
    private readonly settings: Settings,
    private readonly backup: VerifiedBackup,
    private readonly withoutKey: boolean,
    private readonly quiet: boolean,
    private readonly asItWas: boolean,
  ) {}

  /** Each running process was started with all keys that the present database needs. */
  async readableToAll(tx: Tx): Promise<boolean> {
    const known = await new SecretKeysRepository(tx.dataSource).list(tx);
    const needed = known.filter(({ retired_at }) => !retired_at).map(({ id }) => id);
    return !this.withoutKey && this.backup.manifest.key_ids.every((id) => needed.includes(id));
  }

  async remember(tx: Tx, inUse: boolean): Promise<void> {
    if (!this.asItWas) {
      this.switchBefore = await killSwitchOf(tx).findActive(tx);
      await noteAuthorityBeforeRestore(tx);
    }
    this.keysInUse = inUse ? await new SecretKeysRepository(tx.dataSource).listInUse(tx) : [];
    await noteActionsBeforeRestore(tx);
    await noteRunsBeforeRestore(tx);
    await noteDeliveriesBeforeRestore(tx);
  }

  async rebuild(tx: Tx): Promise<void> {
    const killSwitch = killSwitchOf(tx);
    if (this.switchBefore) await killSwitch.keepActive(tx, this.switchBefore);
    this.switchNow = await killSwitch.findActive(tx);
    if (!this.asItWas) this.authority = await carryAuthorityOverRestore(tx);
    this.actions = await carryActionsOverRestore(tx);
    this.cancelledRuns = await cancelRunsOverRestore(tx);
    this.deliveries = await carryDeliveriesOverRestore(tx, this.quiet);
    await sendUnhandledEventsAgain(tx);
    this.runsNotRepeated = await dropTriagesOfRunsBefore(tx);
    await new IncidentCountsRepository(new Statements(tx.dataSource)).recount(tx);
    if (this.withoutKey) return await this.tellOfRuns(tx);
    // Also when the backup is older than they are: what is sealed with them from now on needs them.
    await new SecretKeysRepository(tx.dataSource).insertIfNew(tx, this.keysInUse);
    await this.record(tx);
  }

  /** What the operator should know once the restore is done, a line each. */
  summary(): string[] {
    const { continued, lost } = this.actions;
    const named = (ids: readonly string[]) => ids.map(shownActionId).join(', ');
    const lines: string[] = [];
    if (this.switchNow) {
      const { activated_by, reason } = this.switchNow;
      lines.push(
        `The kill switch is on, as ${this.switchBefore ? 'before the restore' : 'in the backup'}: ${activated_by} turned it on (${reason}).`,
      );
    }
    lines.push(...authorityLines(this.authority));
    if (continued.length > 0) {
      lines.push(
        `They had gone on since the backup, and are where they were now: ${named(continued)}.`,
      );
    }
    if (lost.length > 0) {
      lines.push(`Their vendors were called, and the backup does not know them: ${named(lost)}.`);
    }
    if (this.cancelledRuns.length > 0) {
      const ids = this.cancelledRuns.map(({ id }) => id).join(', ');
      lines.push(`Playbook runs that had gone on since the backup, and are cancelled: ${ids}.`);
    }
    if (this.runsNotRepeated > 0) {
      lines.push(
        `Triages for which playbooks had started by themselves since the backup, and do not again: ${this.runsNotRepeated}.`,
      );
    }
    const { sent, channelsDisabled } = this.deliveries;
    if (sent > 0) {
      lines.push(
        `Notifications that were on their way in the backup, and are sent: ${sent}. Who has them already hears it twice.`,
      );
    }
    if (channelsDisabled > 0) {
      lines.push(`Notification channels that were enabled, and are disabled: ${channelsDisabled}.`);
    }
    return lines;
  }

  private async tellOfRuns(tx: Tx, audit?: AuditLog): Promise<void> {
    const timeline = timelineOfCommand(tx.dataSource);
    await tellOfCancelledRuns(tx, this.cancelledRuns, { timeline, audit });
  }

  private async record(tx: Tx): Promise<void> {
    const keys = new AuditKeys(await acceptKeys(tx, this.settings));
    const log = logOfCommand(tx.dataSource, keys);
    const { created_at, version } = this.backup.manifest;
    const { continued, lost } = this.actions;
    await this.tellOfRuns(tx, log);
    await log.record(tx, {
      actor: 'system',
      action: 'database.restored',
      subject: { type: 'database', id: created_at },
      details: {
        backup_of: created_at,
        backup_by: version,
        as_it_was: this.asItWas || undefined,
        api_keys_kept_revoked: this.authority?.keysRevoked || undefined,
        users_kept_disabled: this.authority?.usersDisabled || undefined,
        users_kept_deleted: this.authority?.usersDeleted || undefined,
        kill_switch_kept_on: this.switchBefore && { ...this.switchBefore },
        actions_continued: countedIds(continued.map(shownActionId)),
        actions_lost: countedIds(lost.map(shownActionId)),
        notifications_sent: this.deliveries.sent || undefined,
        notification_channels_disabled: this.deliveries.channelsDisabled || undefined,
        playbook_runs_cancelled: countedIds(this.cancelledRuns.map(({ id }) => id)),
      },
    });
    // The restored trail ends earlier than the one that the service last saw, which would count as tampering.
    await recordAcceptance(tx, log, `restored the backup of ${created_at}`);
  }
}

function authorityLines(authority: AuthorityAcrossRestore | undefined): string[] {
  if (!authority) {
    return [
      'Keys, users and the kill switch are as in the backup: revoke again what was revoked since.',
    ];
  }
  const { keysRevoked, usersDisabled, usersDeleted, nobodyAdministers } = authority;
  const counts = [
    `${keysRevoked} API keys stay revoked`,
    `${usersDisabled} users stay disabled`,
    `${usersDeleted} users stay deleted`,
  ].filter((line) => !line.startsWith('0 '));
  const lines =
    counts.length > 0 ? [`Access that ended since the backup: ${counts.join(', ')}.`] : [];
  if (!nobodyAdministers) return lines;
  return [...lines, 'No enabled admin is left: make one with npm run create-admin.'];
}

function killSwitchOf({ dataSource }: Tx): KillSwitchRepository {
  return new KillSwitchRepository(dataSource, new Statements(dataSource));
}

function countedIds(ids: readonly string[]): { count: number; ids: string[] } | undefined {
  if (ids.length === 0) return undefined;
  return { count: ids.length, ids: ids.slice(0, MOST_NAMED) };
}
