// SQL: the read that every claim of an action pays, the advisory lock, and what a restore asks of any release.
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { AdvisoryLock } from '../platform/database/advisory-locks.js';
import { SQLSTATE, sqlStateOf } from '../platform/database/sqlstate.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { KillSwitchState } from './kill-switch.js';
import { KillSwitchEntity } from './kill-switch.entity.js';
import { KillSwitchUnreadableError } from './kill-switch.errors.js';

export interface ReadState extends KillSwitchState {
  /** By the database's clock; present while the switch is on. */
  readonly activeForMs?: number;
}

/** Who turned the switch on, and why, as a restore carries it over. */
export interface ActiveSwitch {
  readonly reason: string;
  readonly activated_by: string;
  readonly activated_at: string;
}

/** A claim whose process hangs would keep a change of the switch waiting for as long as it hangs. */
const LOCK_PATIENCE_MS = 400;

const READ: Statement = {
  name: 'kill_switch_read',
  text: `select active, reason, activated_by, activated_at, deactivated_by, deactivated_at, deactivation_reason,
      case when active then (extract(epoch from clock_timestamp() - activated_at) * 1000)::float8 end as active_for_ms
    from kill_switch`,
};

@Injectable()
export class KillSwitchRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  /**
   * For a claim: no change of the switch commits until the transaction has ended. An advisory lock, because claims that
   * lock the row for share starve whoever wants to change it.
   */
  async lockShared(tx: Tx): Promise<void> {
    await tx.query(`select pg_advisory_xact_lock_shared(${AdvisoryLock.KillSwitch})`);
  }

  /**
   * For a change of the switch. Waits for the claims that are being made, but not for ever: false when it went on
   * without the lock. Those claims still cannot send anything once their permits have lapsed, so the promise of an
   * activation holds either way.
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

  async read(): Promise<KillSwitchState> {
    const row = await this.dataSource.getRepository(KillSwitchEntity).findOneBy({ only_row: true });
    if (!row) throw new KillSwitchUnreadableError();
    return stateOf(row);
  }

  async readIn(tx: Tx): Promise<ReadState> {
    const [row] = await this.statements.rowsIn<ReadRow>(tx, READ);
    if (!row) throw new KillSwitchUnreadableError();
    return { ...stateOf(row), activeForMs: row.active_for_ms ?? undefined };
  }

  /** Undefined when it is active already. */
  async activate(tx: Tx, reason: string, by: string): Promise<KillSwitchState | undefined> {
    return await this.change(tx, true, {
      reason,
      activated_by: by,
      activated_at: () => 'clock_timestamp()',
      deactivated_by: null,
      deactivated_at: null,
      deactivation_reason: null,
    });
  }

  /** Undefined when it is not active. */
  async deactivate(tx: Tx, reason: string, by: string): Promise<KillSwitchState | undefined> {
    return await this.change(tx, false, {
      deactivation_reason: reason,
      deactivated_by: by,
      deactivated_at: () => 'clock_timestamp()',
    });
  }

  /** For a restore: the present database may be empty, or of an earlier release. */
  async findActive(tx: Tx): Promise<ActiveSwitch | undefined> {
    const [table] = await tx.query<{ there: boolean }[]>(
      `select to_regclass('kill_switch') is not null as there`,
    );
    if (!table?.there) return undefined;
    const [active] = await tx.query<ActiveSwitch[]>(
      `select reason, activated_by, activated_at::text as activated_at from kill_switch where active`,
    );
    return active;
  }

  /** For a restore: what somebody had stopped stays stopped, for the reason that was given. */
  async keepActive(tx: Tx, active: ActiveSwitch): Promise<void> {
    await tx.query(
      `update kill_switch set active = true, reason = $1, activated_by = $2, activated_at = $3,
          deactivated_by = null, deactivated_at = null, deactivation_reason = null`,
      [active.reason, active.activated_by, active.activated_at],
    );
  }

  private async change(
    tx: Tx,
    active: boolean,
    columns: QueryDeepPartialEntity<KillSwitchEntity>,
  ): Promise<KillSwitchState | undefined> {
    const result = await tx
      .getRepository(KillSwitchEntity)
      .createQueryBuilder()
      .update()
      .set({ ...columns, active })
      .where({ active: !active })
      .returning('*')
      .execute();
    const [row] = result.raw as KillSwitchEntity[];
    return row && stateOf(row);
  }
}

type ReadRow = Omit<KillSwitchEntity, 'only_row'> & { readonly active_for_ms: number | null };

function stateOf(row: Omit<KillSwitchEntity, 'only_row'>): KillSwitchState {
  return {
    active: row.active,
    reason: row.reason ?? undefined,
    activatedBy: row.activated_by ?? undefined,
    activatedAt: row.activated_at ?? undefined,
    deactivatedBy: row.deactivated_by ?? undefined,
    deactivatedAt: row.deactivated_at ?? undefined,
    deactivationReason: row.deactivation_reason ?? undefined,
  };
}
