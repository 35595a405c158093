import { Injectable } from '@nestjs/common';
import type { Page } from '../../platform/paging/page.js';
import { AdvisoryLock } from '../../platform/database/advisory-locks.js';
import { Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Action } from '../action.js';
import { actionOf, type ActionRow } from '../records/action-rows.js';
import type { ActionListRequest } from './action-list.js';
import { listQuery } from './action-list.sql.js';

/** The sums and what has been appended since, in one snapshot. */
const COUNT_WAITING = {
  name: 'actions_count_waiting',
  text: `
    select (coalesce((select sum(n) from action_counts where status = 'pending_approval'), 0)
          + coalesce((select sum(n) from action_count_deltas where status = 'pending_approval'), 0))::integer as n`,
};

const LOCK_FOLD = {
  name: 'actions_lock_fold',
  text: `select pg_try_advisory_xact_lock(${AdvisoryLock.ActionCounts}) as locked`,
};

const FOLD = {
  name: 'actions_fold_counts',
  text: `
    with folded as (
      delete from action_count_deltas where id in (
        select id from action_count_deltas order by id limit $1) returning status, action_type, approval_level, n),
    summed as (
      select status, action_type, approval_level, sum(n) as n from folded group by 1, 2, 3),
    kept as (
      insert into action_counts (status, action_type, approval_level, n) select * from summed
      on conflict on constraint pk_action_counts do update set n = action_counts.n + excluded.n)
    select count(*)::integer as n from folded`,
};

interface ListRow extends ActionRow {
  readonly total: string;
}

@Injectable()
export class ActionListRepository {
  constructor(private readonly statements: Statements) {}

  async list(request: ActionListRequest): Promise<Page<Action>> {
    const { text, values } = listQuery(request);
    const rows = await this.statements.rows<ListRow>({ name: '', text }, [...values]);
    const total = Number(rows[0]?.total ?? 0);
    // A page past the end is one row without an action.
    return { total, items: rows.filter(({ id }) => (id as string | null) !== null).map(actionOf) };
  }

  async countWaitingForApproval(): Promise<number> {
    const [row] = await this.statements.rows<{ n: number }>(COUNT_WAITING);
    return row?.n ?? 0;
  }

  /** Sums up at most `limit` of what the changes appended; answers how many those were. */
  async foldCounts(tx: Tx, limit: number): Promise<number> {
    const [lock] = await this.statements.rowsIn<{ locked: boolean }>(tx, LOCK_FOLD);
    if (!lock?.locked) return 0;
    const [row] = await this.statements.rowsIn<{ n: number }>(tx, FOLD, [limit]);
    return row?.n ?? 0;
  }
}
