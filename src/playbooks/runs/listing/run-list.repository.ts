// SQL: a list is one statement with its exact total, and the fold is one over all deltas.
import { Injectable } from '@nestjs/common';
import { pageOf, type WithTotal } from '../../../platform/counting/counted-list.sql.js';
import { foldStatement } from '../../../platform/counting/fold-statement.js';
import { type Statement, Statements } from '../../../platform/database/statements.js';
import type { Tx } from '../../../platform/database/transactions.js';
import type { Page } from '../../../platform/paging/page.js';
import type { PlaybookRunSummary } from '../playbook-run.js';
import type { PlaybookRunCountEntity } from '../records/playbook-run-count.entity.js';
import { IS_DUE, runOf, type RunRow } from '../records/run-rows.js';
import type { RunListRequest } from './run-list.js';
import { countOf, listQuery } from './run-list.sql.js';

/** Runs that have not ended. One that is due and that no replica has claimed is counted as that alone, and so is one that waits for its turn. */
export interface OpenRuns {
  readonly due: number;
  readonly rate_limited: number;
  readonly running: number;
  readonly waiting_approval: number;
  readonly oldestDueSeconds: number;
}

const countOpen = (status: 'running' | 'waiting_approval') => `
    greatest(0, ${countOf([`status = '${status}'`])}
      - (select count(*) from due where status = '${status}')${status === 'running' ? ' - (select count(*) from later)' : ''})::integer as ${status}`;

const OPEN: Statement = {
  name: 'playbook_runs_open',
  text: `
    with due as materialized (select status, due_at from playbook_runs where ${IS_DUE}),
    later as materialized (select from playbook_runs where due_at > now())
    select (select count(*) from due)::integer as due,
           (select count(*) from later)::integer as rate_limited,
           coalesce((select extract(epoch from now() - min(due_at)) from due), 0)::float8 as "oldestDueSeconds",
           ${countOpen('running')}, ${countOpen('waiting_approval')}`,
};

const DIMENSIONS = ['playbook_id', 'status'] as const satisfies (keyof PlaybookRunCountEntity)[];
const FOLD = foldStatement('playbook_run', DIMENSIONS);

@Injectable()
export class RunListRepository {
  constructor(private readonly statements: Statements) {}

  async list(request: RunListRequest): Promise<Page<PlaybookRunSummary>> {
    const { text, values } = listQuery(request);
    const rows = await this.statements.rows<RunRow & WithTotal>({ name: '', text }, [...values]);
    return pageOf(rows, runOf);
  }

  async openCounts(): Promise<OpenRuns> {
    return (await this.statements.rows<OpenRuns>(OPEN))[0]!;
  }

  /** Adds at most `limit` deltas to the sums; answers how many those were. */
  async fold(tx: Tx, limit: number): Promise<number> {
    const [row] = await this.statements.rowsIn<{ n: number }>(tx, FOLD, [limit]);
    return row?.n ?? 0;
  }
}
