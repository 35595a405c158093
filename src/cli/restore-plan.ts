import {
  type ActionsSince,
  goOnWithActions,
  rememberActions,
} from '../actions/execution/actions-of-before.js';
import { shownActionId } from '../actions/action-id.js';
import { recordAcceptance } from '../audit/anchor/accept-head.js';
import { AuditKeys } from '../audit/chain/audit-keys.js';
import { logOfCommand } from '../audit/writing/log-of-command.js';
import type { Settings } from '../platform/config/settings.js';
import type { RestorePlan } from '../platform/database/backup/backup-plan.js';
import type { VerifiedBackup } from '../platform/database/backup/read-backup.js';
import { Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { CountsRepository } from '../incidents/counting/counts.repository.js';
import { type ActiveSwitch, activeSwitch, keepSwitchOn } from '../kill-switch/kept-switch.js';
import { keepKeys, type KeyInUse, keysInUse } from '../platform/secrets/key-retirement.js';
import { acceptKeysIn, KNOWN, type KnownKey } from '../platform/secrets/known-keys.js';
import { LEFT_OUT } from './backup-plan.js';

/** A record holds some; how many there are, it says. */
const MOST_NAMED = 50;

/**
 * What a restore must not undo: somebody stopped the automation, and vendors did what they were asked. The rest is as in
 * the backup.
 */
export class RestoreOfService implements RestorePlan {
  readonly leftOut = LEFT_OUT;
  private stopped: ActiveSwitch | undefined;
  private active: ActiveSwitch | undefined;
  private keys: readonly KeyInUse[] = [];
  private actions: ActionsSince = { continued: [], lost: [] };

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
    this.stopped = await activeSwitch(tx);
    this.keys = inUse ? await keysInUse(tx) : [];
    await rememberActions(tx);
  }

  async rebuild(tx: Tx): Promise<void> {
    if (this.stopped) await keepSwitchOn(tx, this.stopped);
    this.active = await activeSwitch(tx);
    this.actions = await goOnWithActions(tx);
    await new CountsRepository(new Statements(tx.connection)).recount(tx);
    if (this.withoutKey) return;
    await keepKeys(tx, this.keys);
    await this.record(tx);
  }

  /** For the operator, once it is done. */
  told(): string[] {
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
    const keys = new AuditKeys(await acceptKeysIn(tx, this.settings));
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

function someOf(name: string, ids: readonly string[]): Record<string, unknown> {
  if (ids.length === 0) return {};
  return { [name]: { count: ids.length, ids: ids.slice(0, MOST_NAMED).map(shownActionId) } };
}
