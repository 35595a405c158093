// SQL: the read of every claim of an action, the advisory lock, and a read of a database that may be older.
import { Injectable } from '@nestjs/common';
import { AdvisoryLock } from '../platform/database/advisory-locks.js';
import { columnsOf } from '../platform/database/columns.js';
import { SQLSTATE, sqlStateOf } from '../platform/database/sqlstate.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { AppError } from '../platform/errors/app-error.js';
import { KillSwitchEntity } from './kill-switch.entity.js';

/** A switch that cannot be read counts as active. */
class KillSwitchUnreadableError extends AppError {
  constructor() {
    super('kill_switch_active', 'The kill switch cannot be read and therefore counts as on.');
  }
}

/** The switch and its last changes. */
export type KillSwitchState = Omit<KillSwitchEntity, 'only_row'>;

/** Activation that a restore keeps. */
export type ActiveSwitch = Pick<KillSwitchEntity, 'reason' | 'activated_by' | 'activated_at'>;

/** Maximum wait for claims, because a hanging process could hold the lock for long. */
const LOCK_PATIENCE_MS = 400;

const COLUMNS = columnsOf(KillSwitchEntity, ['only_row']).join(', ');

const READ: Statement = { name: 'kill_switch_read', text: `select ${COLUMNS} from kill_switch` };

const ACTIVATE: Statement = {
  name: 'kill_switch_activate',
  text: `update kill_switch set active = true, reason = $1, activated_by = $2, activated_at = clock_timestamp(),
      deactivated_by = null, deactivated_at = null, deactivation_reason = null
    where not active returning ${COLUMNS}`,
};

const DEACTIVATE: Statement = {
  name: 'kill_switch_deactivate',
  text: `update kill_switch set active = false, deactivation_reason = $1, deactivated_by = $2,
      deactivated_at = clock_timestamp()
    where active returning ${COLUMNS}`,
};

const LOCK_SHARED: Statement = {
  name: 'kill_switch_lock_shared',
  text: `select pg_advisory_xact_lock_shared(${AdvisoryLock.KillSwitch})`,
};

@Injectable()
export class KillSwitchRepository {
  constructor(private readonly statements: Statements) {}

  /**
   * For a claim: no change of the switch commits until the transaction ends. An advisory lock, because shared locks of
   * the row would starve changes of the switch.
   */
  async lockShared(tx: Tx): Promise<void> {
    await this.statements.rowsIn(tx, LOCK_SHARED);
  }

  /**
   * For a change of the switch. Waits for claims in progress for a limited time; `false` if it continues without the
   * lock. Such claims cannot send anything after their permits expire, so the promise of an activation still holds.
   */
  async lockExclusively(tx: Tx): Promise<boolean> {
    await tx.query('savepoint before_switch_lock');
    try {
      await tx.query(`set local lock_timeout = ${LOCK_PATIENCE_MS}`);
      await tx.query(`select pg_advisory_xact_lock(${AdvisoryLock.KillSwitch})`);
      await tx.query('set local lock_timeout = default');
      return true;
    } catch (error) {
      if (sqlStateOf(error) !== SQLSTATE.lockNotAvailable) throw error;
      await tx.query('rollback to savepoint before_switch_lock');
      return false;
    }
  }

  async read(tx?: Tx): Promise<KillSwitchState> {
    const [row] = await this.statements.rowsIn<KillSwitchState>(tx, READ);
    if (!row) throw new KillSwitchUnreadableError();
    return row;
  }

  /** `undefined` if the switch is already active. */
  async activate(tx: Tx, reason: string, by: string): Promise<KillSwitchState | undefined> {
    return (await this.statements.rowsIn<KillSwitchState>(tx, ACTIVATE, [reason, by]))[0];
  }

  /** `undefined` if the switch is not active. */
  async deactivate(tx: Tx, reason: string, by: string): Promise<KillSwitchState | undefined> {
    return (await this.statements.rowsIn<KillSwitchState>(tx, DEACTIVATE, [reason, by]))[0];
  }

  /** For a restore: the current database may be empty. */
  async findActive(tx: Tx): Promise<ActiveSwitch | undefined> {
    if (!(await tx.queryRunner!.hasTable('kill_switch'))) return undefined;
    const [active] = await tx.query<ActiveSwitch[]>(
      `select reason, activated_by, activated_at from kill_switch where active`,
    );
    return active;
  }

  /** For a restore: an active switch stays active, with its reason. */
  async keepActive(tx: Tx, { reason, activated_by, activated_at }: ActiveSwitch): Promise<void> {
    const activated = { active: true, reason, activated_by, activated_at };
    const never = { deactivated_by: null, deactivated_at: null, deactivation_reason: null };
    await tx.update(KillSwitchEntity, { only_row: true }, { ...activated, ...never });
  }
}
