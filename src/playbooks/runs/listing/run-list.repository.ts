// SQL: a list is one statement with its exact total.
import { Injectable } from '@nestjs/common';
import {
  byId,
  choiceOf,
  countOf,
  idsInOrder,
  isChosen,
  listStatement,
  pageOf,
  StatementValues,
  where,
  type WithTotal,
} from '../../../platform/counting/counted-list.sql.js';
import { CountFold } from '../../../platform/counting/count-fold.js';
import { type Statement, Statements } from '../../../platform/database/statements.js';
import { Transactions } from '../../../platform/database/transactions.js';
import type { Page, PageRequest } from '../../../platform/paging/page.js';
import {
  PLAYBOOK_RUN_STATUSES,
  type PlaybookRunStatus,
  type PlaybookRunSummary,
  type RunOutcome,
} from '../playbook-run.js';
import { IS_DUE, RUN_COLUMNS, runOf, type RunRow } from '../records/run-rows.js';
import { AdvisoryLock } from '../../../platform/database/advisory-locks.js';
import { firstIdAt } from '../../../platform/ids.js';

export interface ListQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** One statement that yields a page and the exact total: see listStatement. Ids begin with the time of the start. */
export function listQuery({ filter, newestFirst, page, per_page }: RunListRequest): ListQuery {
  const values = new StatementValues();
  const { playbookId, statuses } = filter;
  const chosen = choiceOf(statuses, 'text', values, PLAYBOOK_RUN_STATUSES.length);
  const ofPlaybook =
    playbookId === undefined ? [] : [`playbook_id = ${values.add(playbookId, 'uuid')}`];
  const counted = [...ofPlaybook, ...(chosen ? [isChosen('status', chosen)] : [])];
  const narrow = narrowConditions(filter, values);
  const ranges = (chosen?.each ?? [undefined]).map((status) => [
    ...ofPlaybook,
    ...(status === undefined ? [] : [`status = ${status}`]),
    ...narrow,
  ]);
  const direction = newestFirst ? 'desc' : 'asc';
  const offset = (page - 1) * per_page;
  const first = idsInOrder('playbook_runs', ranges, direction, offset + per_page);
  const text = listStatement({
    total:
      narrow.length > 0
        ? `(select count(*) from playbook_runs${where([...counted, ...narrow])})`
        : countOf('playbook_run', counted),
    ids: `
    select id from (${first}) as candidate order by id ${direction}
    offset ${values.add(offset, 'bigint')} limit ${per_page}`,
    columns: RUN_COLUMNS.join(', '),
    table: 'playbook_runs',
    order: byId(direction),
  });
  return { text, values: values.all };
}

/** As `outcomeOf` has it. The outcomes are words of ours. */
function hasOutcome(outcome: RunOutcome): string {
  switch (outcome) {
    case 'succeeded':
      return `(status = 'completed' and steps_failed = 0)`;
    case 'partial':
      return `(status = 'completed' and steps_failed > 0)`;
    case 'failed':
    case 'cancelled':
      return `(status = '${outcome}')`;
  }
}

/** Runs about one incident, or in a range of time, are few: an index finds them, so they are counted as they are. */
function narrowConditions(
  { incidentId, outcomes, from, to }: RunFilter,
  values: StatementValues,
): string[] {
  const idAt = (time: number) => values.add(firstIdAt(time), 'uuid');
  return [
    ...(outcomes === undefined ? [] : [`(${outcomes.map(hasOutcome).join(' or ')})`]),
    ...(incidentId === undefined ? [] : [`incident_id = ${values.add(incidentId, 'uuid')}`]),
    ...(from === undefined ? [] : [`id >= ${idAt(from.getTime())}`]),
    ...(to === undefined ? [] : [`id < ${idAt(to.getTime() + 1)}`]),
  ];
}

interface RunFilter {
  readonly statuses?: readonly PlaybookRunStatus[];
  readonly outcomes?: readonly RunOutcome[];
  readonly playbookId?: string;
  readonly incidentId?: string;
  /** Those that started from this time on, and up to and with that one. */
  readonly from?: Date;
  readonly to?: Date;
}

export interface RunListRequest extends PageRequest {
  readonly filter: RunFilter;
  readonly newestFirst: boolean;
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

const DIMENSIONS = ['playbook_id', 'status'] as const;
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
}

/** Keeps the totals of the lists of playbook runs cheap. */
@Injectable()
export class PlaybookRunCounts extends CountFold {
  constructor(statements: Statements, transactions: Transactions) {
    super(statements, transactions, {
      rows: 'playbook runs',
      table: 'playbook_run',
      by: DIMENSIONS,
      lock: AdvisoryLock.PlaybookRunCounts,
    });
  }
}
