// SQL: one statement reads or changes a batch of runs, and the state of an open run comes from its work.
import { Injectable } from '@nestjs/common';
import { listStatement, readPage } from '../platform/counting/counted-list.js';
import { columnsOf } from '../platform/database/columns.js';
import { RowInsert, type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import type { Page } from '../platform/paging/page.js';
import { NO_TOKENS, type TokenUse } from './model/triage-model.port.js';
import {
  LISTED_COLUMNS,
  RUN_COLUMNS,
  type TriageRun,
  TriageRunEntity,
  type TriageRunsQueryDto,
} from './triage-run.js';

export const TRIAGE = { name: 'triage', hasOwnGauges: true, mostAttempts: 4 } as const;

const NEW_COLUMNS = [
  ...(['id', 'incident_id', 'requested_by'] as const),
  ...(['force', 'playbook', 'provider', 'created_at'] as const),
];
const NEW_ROWS = new RowInsert(TriageRunEntity, ['status', ...NEW_COLUMNS]);
export type NewRun = Pick<TriageRun, (typeof NEW_COLUMNS)[number]>;

const CHANGED_COLUMNS = columnsOf(TriageRunEntity, [
  ...(['id', 'incident_id', 'created_at', 'completed_at', 'tokens_at'] as const),
  ...(['input_tokens', 'output_tokens', 'cached_input_tokens'] as const),
]);

export interface RunChange {
  readonly id: string;
  readonly tokens?: TokenUse;
  /** New values. All other columns keep their values. Runs that have ended are not changed. */
  readonly columns: Partial<TriageRunEntity>;
}

const names = (columns: readonly string[]) => columns.map((name) => `run.${name}`).join(', ');

const IS_RUNNING = '(work.worker is not null and not work.ready)';
/** A lane has a reason if it is paused, or if one run is checking whether the reason still exists. */
const FROM = `
  triage_runs run
  left join work on run.status = 'queued' and work.kind = '${TRIAGE.name}' and work.ref = run.id
  left join work_lanes lane on lane.lane = work.lane and lane.reason is not null and not ${IS_RUNNING}`;
const shown = (all: readonly string[]) => `
  ${names(all.filter((name) => name !== 'status' && name !== 'error'))},
  case when ${IS_RUNNING} then 'running' else run.status end as status,
  coalesce(lane.reason, run.error) as error,
  case when not ${IS_RUNNING} and coalesce(lane.reason, run.error) is not null
       then greatest(work.due_at, lane.paused_until) end as next_attempt_at`;
const SHOWN = shown(RUN_COLUMNS);

const INSERT: Statement = {
  name: 'triage_runs_insert',
  text: `${NEW_ROWS.text()} returning ${RUN_COLUMNS.join(', ')}`,
};

const KNOWN: Statement = {
  name: 'triage_runs_known',
  text: `
    select distinct on (run.incident_id, run.status) ${SHOWN} from ${FROM}
     where run.incident_id = any($1::uuid[]) and run.status in ('queued', 'completed')
     order by run.incident_id, run.status, run.id desc`,
};

const CHANGE: Statement = {
  name: 'triage_runs_change',
  text: `
    update triage_runs run
       set (${CHANGED_COLUMNS.join(', ')}) = (
             select ${CHANGED_COLUMNS.map((name) => `after.${name}`).join(', ')}
               from jsonb_populate_record(run, change.columns) as after),
           completed_at = case when change.columns ? 'status' then greatest(
             clock_timestamp(), run.created_at, (change.columns ->> 'started_at')::timestamptz) end,
           input_tokens = run.input_tokens + change.input,
           output_tokens = run.output_tokens + change.output,
           cached_input_tokens = run.cached_input_tokens + change.cached_input,
           tokens_at = case when change.input + change.output > 0 then now() else run.tokens_at end
      from jsonb_to_recordset($1::jsonb) as change (
        id uuid, columns jsonb, input integer, output integer, cached_input integer)
     where run.id = change.id and run.status = 'queued'
    returning ${names(RUN_COLUMNS)}`,
};

const LIST = (direction: 'asc' | 'desc'): Statement => ({
  name: `triage_runs_list_${direction}`,
  text: listStatement({
    ctes: [`run as (select ${shown(LISTED_COLUMNS)} from ${FROM} where run.incident_id = $1)`],
    total: '(select count(*) from triage_runs where incident_id = $1)',
    ids: `select id from triage_runs where incident_id = $1 order by id ${direction} offset $2 limit $3`,
    columns: 'run.*',
    table: 'run',
    order: `item.id ${direction}`,
  }),
});

const FIND: Statement = {
  name: 'triage_runs_find',
  text: `select ${SHOWN} from ${FROM} where run.incident_id = $1 and run.id = $2`,
};

const COUNT_OPEN: Statement = {
  name: 'triage_runs_count_open',
  text: `
    select count(*) filter (where not ${IS_RUNNING})::int as queued, count(*) filter (where ${IS_RUNNING})::int as running
      from work where kind = '${TRIAGE.name}' and died_at is null`,
};

/** Time at which the oldest use of tokens is an hour ago. The next attempt computes the sum again. */
const BUDGET_FREE_AT: Statement = {
  name: 'triage_runs_budget_free_at',
  text: `
    select case when sum(input_tokens + output_tokens) >= $1 then min(tokens_at) + interval '1 hour' end as free_at
      from triage_runs where tokens_at > now() - interval '1 hour'`,
};

@Injectable()
export class TriageRunsRepository {
  constructor(private readonly statements: Statements) {}

  /** Violates uq_triage_runs_open if an incident already has an open run. */
  async insert(tx: Tx, runs: readonly NewRun[]): Promise<TriageRun[]> {
    const values = NEW_ROWS.values(runs.map((run) => ({ ...run, status: 'queued' })));
    return await this.statements.rowsIn<TriageRun>(tx, INSERT, values);
  }

  async known(incidentIds: readonly string[], tx?: Tx) {
    const rows = await this.statements.rowsIn<TriageRun>(tx, KNOWN, [incidentIds]);
    const known = new Map<string, { open?: TriageRun; completed?: TriageRun }>();
    for (const row of rows) {
      const key = row.status === 'completed' ? 'completed' : 'open';
      known.set(row.incident_id, { ...known.get(row.incident_id), [key]: row });
    }
    return known;
  }

  async change(
    tx: Tx | undefined,
    changes: readonly RunChange[],
  ): Promise<ReadonlyMap<string, TriageRun>> {
    const rows = changes.map(({ tokens = NO_TOKENS, ...change }) => ({ ...tokens, ...change }));
    const changed = await this.statements.rowsIn<TriageRun>(tx, CHANGE, [JSON.stringify(rows)]);
    return new Map(changed.map((run) => [run.id, run]));
  }

  async list(incidentId: string, request: TriageRunsQueryDto): Promise<Page<TriageRun>> {
    const { page, per_page, sort } = request;
    const values = [incidentId, (page - 1) * per_page, per_page];
    const statement = LIST(sort === '-created_at' ? 'desc' : 'asc');
    return await readPage(this.statements, { statement, values });
  }

  async find(incidentId: string, id: string): Promise<TriageRun | undefined> {
    return (await this.statements.rows<TriageRun>(FIND, [incidentId, id]))[0];
  }

  async open(tx: Tx, incident_id?: string): Promise<string[]> {
    const where = { status: 'queued', ...(incident_id && { incident_id }) } as const;
    const rows = await tx.find(TriageRunEntity, { select: { id: true }, where });
    return rows.map(({ id }) => id);
  }

  async countOpen(): Promise<Readonly<Record<'queued' | 'running', number>>> {
    return (await this.statements.rows<{ queued: number; running: number }>(COUNT_OPEN))[0]!;
  }

  async budgetFreeAt(budget: number): Promise<Date | undefined> {
    const [row] = await this.statements.rows<{ free_at: Date | null }>(BUDGET_FREE_AT, [budget]);
    return row?.free_at ?? undefined;
  }
}
