import { Injectable } from '@nestjs/common';
import { AdvisoryLock } from '../platform/database/advisory-locks.js';
import { SQLSTATE, sqlStateOf } from '../platform/database/sqlstate.js';
import type { Tx } from '../platform/database/transactions.js';

/** A claim whose process hangs would keep an activation waiting for as long. */
const PATIENCE_MS = 400;

/**
 * Keeps activations and claims apart: shared by claims, exclusive for a change of the switch, until the end of the
 * transaction. An advisory lock, because claims that lock the row for share starve whoever wants to change it.
 */
@Injectable()
export class SwitchLock {
  async lockShared(tx: Tx): Promise<void> {
    await tx.query(`select pg_advisory_xact_lock_shared(${AdvisoryLock.KillSwitch})`);
  }

  /**
   * Waits for the claims that are being made, but not for ever: false when it went on without them. They then still
   * cannot send anything after the permit's time, so the promise of an activation holds either way.
   */
  async lockExclusively(tx: Tx): Promise<boolean> {
    await tx.query('savepoint before_switch_lock');
    try {
      await tx.query(`set local lock_timeout = ${PATIENCE_MS}`);
      await tx.query(`select pg_advisory_xact_lock(${AdvisoryLock.KillSwitch})`);
      await tx.query('set local lock_timeout = default');
      return true;
    } catch (error) {
      if (sqlStateOf(error) !== SQLSTATE.lockNotAvailable) throw error;
      await tx.query('rollback to savepoint before_switch_lock');
      return false;
    }
  }
}
