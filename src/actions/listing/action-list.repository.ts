// SQL: a list is one statement with its exact total, and the fold is one over all deltas.
import { Injectable } from '@nestjs/common';
import type { Page } from '../../platform/paging/page.js';
import { Statements, type Statement } from '../../platform/database/statements.js';
import { foldStatement } from '../../platform/counting/fold-statement.js';
import { pageOf, type WithTotal } from '../../platform/counting/counted-list.sql.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Action } from '../action.js';
import { actionOf, type ActionRow } from '../records/action-rows.js';
import type { ActionListRequest } from './action-list.js';
import { countOf, listQuery } from './action-list.sql.js';

const COUNT_WAITING: Statement = {
  name: 'actions_count_waiting',
  text: `select ${countOf([`status = 'pending_approval'`])}::integer as n`,
};

const OLDEST_WAITING: Statement = {
  name: 'actions_oldest_waiting',
  text: `select greatest(0, extract(epoch from clock_timestamp() - min(requested_at)))::float8 as seconds
    from actions where status = 'pending_approval'`,
};

const FOLD = foldStatement('action', ['status', 'action_type', 'approval_level']);

@Injectable()
export class ActionListRepository {
  constructor(private readonly statements: Statements) {}

  async list(request: ActionListRequest): Promise<Page<Action>> {
    const { text, values } = listQuery(request);
    const rows = await this.statements.rows<ActionRow & WithTotal>({ name: '', text }, [...values]);
    return pageOf(rows, actionOf);
  }

  async countWaitingForApproval(): Promise<number> {
    const [row] = await this.statements.rows<{ n: number }>(COUNT_WAITING);
    return row?.n ?? 0;
  }

  /** For how long the oldest has waited; 0 when none does. */
  async oldestWaitingSeconds(): Promise<number> {
    const [row] = await this.statements.rows<{ seconds: number }>(OLDEST_WAITING);
    return row?.seconds ?? 0;
  }

  /** Adds at most `limit` deltas to the sums; answers how many those were. */
  async fold(tx: Tx, limit: number): Promise<number> {
    const [row] = await this.statements.rowsIn<{ n: number }>(tx, FOLD, [limit]);
    return row?.n ?? 0;
  }
}
