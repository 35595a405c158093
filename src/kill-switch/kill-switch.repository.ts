import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { type KillSwitchState, KillSwitchUnreadableError } from './kill-switch.errors.js';

interface Row {
  readonly active: boolean;
  readonly reason: string | null;
  readonly activated_by: string | null;
  readonly activated_at: Date | null;
  readonly deactivated_by: string | null;
  readonly deactivated_at: Date | null;
  readonly deactivation_reason: string | null;
  readonly active_for_ms: number | null;
}

export interface ReadState extends KillSwitchState {
  /** By the database's clock; present while active. */
  readonly activeForMs?: number;
}

const COLUMNS = `active, reason, activated_by, activated_at, deactivated_by, deactivated_at, deactivation_reason,
  case when active then (extract(epoch from clock_timestamp() - activated_at) * 1000)::float8 end as active_for_ms`;

const READ: Statement = {
  name: 'kill_switch_read',
  text: `select ${COLUMNS} from kill_switch`,
};
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

@Injectable()
export class KillSwitchRepository {
  constructor(private readonly statements: Statements) {}

  async read(): Promise<ReadState> {
    return stateOf(await this.statements.rows<Row>(READ));
  }

  async readIn(tx: Tx): Promise<ReadState> {
    return stateOf(await this.statements.rowsIn<Row>(tx, READ));
  }

  /** Undefined when it is active already. */
  async activate(tx: Tx, reason: string, by: string): Promise<ReadState | undefined> {
    const rows = await this.statements.rowsIn<Row>(tx, ACTIVATE, [reason, by]);
    return rows.length > 0 ? stateOf(rows) : undefined;
  }

  /** Undefined when it is not active. */
  async deactivate(tx: Tx, reason: string, by: string): Promise<ReadState | undefined> {
    const rows = await this.statements.rowsIn<Row>(tx, DEACTIVATE, [reason, by]);
    return rows.length > 0 ? stateOf(rows) : undefined;
  }
}

function stateOf([row]: readonly Row[]): ReadState {
  if (!row) throw new KillSwitchUnreadableError();
  return {
    active: row.active,
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.activated_by !== null && { activatedBy: row.activated_by }),
    ...(row.activated_at && { activatedAt: row.activated_at }),
    ...(row.deactivated_by !== null && { deactivatedBy: row.deactivated_by }),
    ...(row.deactivated_at && { deactivatedAt: row.deactivated_at }),
    ...(row.deactivation_reason !== null && { deactivationReason: row.deactivation_reason }),
    ...(row.active_for_ms !== null && { activeForMs: row.active_for_ms }),
  };
}
