import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Action } from '../action.js';
import { ACTION_COLUMNS, actionOf, type ActionRow } from './action-rows.js';

const FIND: Statement = {
  name: 'actions_find',
  text: `select ${ACTION_COLUMNS} from actions where actions.id = $1`,
};

const LOCK: Statement = {
  name: 'actions_lock',
  text: `select ${ACTION_COLUMNS} from actions where actions.id = $1 for no key update of actions`,
};

const COUNT_UNDER_WAY: Statement = {
  name: 'actions_count_under_way',
  text: `
    select count(*)::integer as n from actions
     where status = 'pending' and phase is not null and lease_until >= now()`,
};

const COUNT_HELD: Statement = {
  name: 'actions_count_held',
  text: `select count(*)::integer as n from actions where status = 'pending' and phase is null`,
};

@Injectable()
export class ActionReadRepository {
  constructor(private readonly statements: Statements) {}

  async findById(id: string): Promise<Action | undefined> {
    const [row] = await this.statements.rows<ActionRow>(FIND, [id]);
    return row && actionOf(row);
  }

  async findIn(tx: Tx, id: string): Promise<Action | undefined> {
    const [row] = await this.statements.rowsIn<ActionRow>(tx, FIND, [id]);
    return row && actionOf(row);
  }

  async lockById(tx: Tx, id: string): Promise<Action | undefined> {
    const [row] = await this.statements.rowsIn<ActionRow>(tx, LOCK, [id]);
    return row && actionOf(row);
  }

  async countUnderWay(): Promise<number> {
    const [row] = await this.statements.rows<{ n: number }>(COUNT_UNDER_WAY);
    return row?.n ?? 0;
  }

  async countHeld(): Promise<number> {
    const [row] = await this.statements.rows<{ n: number }>(COUNT_HELD);
    return row?.n ?? 0;
  }
}
