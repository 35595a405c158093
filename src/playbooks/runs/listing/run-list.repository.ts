// SQL: a list is one statement with its exact total.
import { Injectable } from '@nestjs/common';
import { countedList, equal } from '../../../platform/counting/counted-list.js';
import {
  BY_ID,
  countOf,
  pageOf,
  type WithTotal,
} from '../../../platform/counting/counted-list.sql.js';
import { CountFold } from '../../../platform/counting/count-fold.js';
import { AdvisoryLock } from '../../../platform/database/advisory-locks.js';
import { type Statement, Statements } from '../../../platform/database/statements.js';
import { Transactions } from '../../../platform/database/transactions.js';
import { firstIdAfter, firstIdAt, wholeMs } from '../../../platform/ids.js';
import {
  type Page,
  type PageRequest,
  sortsOf,
  type SortWord,
} from '../../../platform/paging/page.js';
import {
  PLAYBOOK_RUN_STATUSES,
  type PlaybookRunStatus,
  type PlaybookRunSummary,
  type RunOutcome,
} from '../playbook-run.js';
import { IS_DUE, RUN_COLUMNS, runOf, type RunRow } from '../records/run-rows.js';

/** The same rule as `outcomeOf`. */
const OUTCOMES: Readonly<Record<RunOutcome, string>> = {
  succeeded: `(status = 'completed' and steps_failed = 0)`,
  partial: `(status = 'completed' and steps_failed > 0)`,
  failed: `(status = 'failed')`,
  cancelled: `(status = 'cancelled')`,
};

/** Filters have the names of the query parameters. Ids begin with the time of the start. */
const runList = countedList({
  table: 'playbook_runs',
  columns: RUN_COLUMNS.join(', '),
  counts: 'playbook_run',
  counted: {
    playbook_id: { filter: 'playbook_id', type: 'uuid' },
    status: { filter: 'status', type: 'text', all: PLAYBOOK_RUN_STATUSES },
  },
  indexes: [['playbook_id'], ['playbook_id', 'status'], ['status']],
  filters: {
    outcome: (outcomes: readonly RunOutcome[]) =>
      `(${outcomes.map((outcome) => OUTCOMES[outcome]).join(' or ')})`,
    incident_id: equal('incident_id', 'uuid'),
    from: (time: string, values) => `id >= ${values.add(firstIdAt(wholeMs(time)), 'uuid')}`,
    to: (time: string, values) => `id < ${values.add(firstIdAfter(time), 'uuid')}`,
  },
  sorts: { created_at: BY_ID },
});

export interface RunListRequest extends PageRequest {
  readonly status?: readonly PlaybookRunStatus[];
  readonly outcome?: readonly RunOutcome[];
  readonly playbook_id?: string;
  readonly incident_id?: string;
  readonly from?: string;
  readonly to?: string;
  readonly sort: SortWord<'created_at'>;
}

/** Runs that have not ended. One that is due and that no replica has claimed is counted as that alone, and so is one that waits for its turn. */
interface OpenRuns {
  readonly due: number;
  readonly rate_limited: number;
  readonly running: number;
  readonly waiting_approval: number;
  readonly oldestDueSeconds: number;
}

const countOpen = (status: 'running' | 'waiting_approval') => `
    greatest(0, ${countOf('playbook_run', [`status = '${status}'`])}
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

@Injectable()
export class RunListRepository {
  constructor(private readonly statements: Statements) {}

  async list({ playbook_id, sort, ...request }: RunListRequest): Promise<Page<PlaybookRunSummary>> {
    const { statement, values } = runList({
      ...request,
      playbook_id: playbook_id === undefined ? undefined : [playbook_id],
      sort: sortsOf([sort]),
    });
    return pageOf(await this.statements.rows<RunRow & WithTotal>(statement, values), runOf);
  }

  async openCounts(): Promise<OpenRuns> {
    return (await this.statements.rows<OpenRuns>(OPEN))[0]!;
  }
}

/** Keeps the totals of the lists of playbook runs cheap. */
@Injectable()
export class PlaybookRunCounts extends CountFold {
  constructor(statements: Statements, transactions: Transactions) {
    super(statements, transactions, {
      rows: 'playbook runs',
      table: 'playbook_run',
      by: ['playbook_id', 'status'],
      lock: AdvisoryLock.PlaybookRunCounts,
    });
  }
}
