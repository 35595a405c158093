// SQL: what many runs read and write is one statement, and the state of an open run comes from its work.
import { Injectable } from '@nestjs/common';
import {
  byId,
  listStatement,
  pageOf,
  type WithTotal,
} from '../../platform/counting/counted-list.sql.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Page, PageRequest } from '../../platform/paging/page.js';
import type { Asked, TokenUse, UnavailableReason } from '../model/triage-model.port.js';
import {
  LISTED_COLUMNS,
  RUN_COLUMNS,
  type TriageRun,
  type TriageRunEntity,
} from '../triage-run.js';

/** Work of open runs; `ref` is the id of the run. */
export const TRIAGE = { name: 'triage' } as const;

export type NewRun = Pick<
  TriageRun,
  'id' | 'incident_id' | 'requested_by' | 'force' | 'playbook' | 'provider' | 'created_at'
>;

export interface RunListRequest extends PageRequest {
  readonly newestFirst: boolean;
}

/** What an attempt used, whether or not it gave a verdict. */
export interface Used {
  readonly tokens?: TokenUse;
  /** Undefined if the attempt ended before the model was asked. */
  readonly asked?: Asked;
}

/** The columns that an attempt may change. */
const CHANGED_COLUMNS = [
  'status',
  'provider',
  'verdict',
  'recommended_actions',
  'not_applied',
  'notes',
  'model',
  'prompt_hash',
  'points',
  'tool_calls',
  'error',
  'failures',
  'duration_ms',
  'started_at',
] as const satisfies (keyof TriageRunEntity)[];

export interface RunChange extends Used {
  readonly id: string;
  /** Other columns keep their values. A run with another status has ended. */
  readonly columns: Partial<Pick<TriageRunEntity, (typeof CHANGED_COLUMNS)[number]>>;
}

/** The runs of an incident that a request looks at. */
export interface KnownRuns {
  readonly open?: TriageRun;
  /** The newest one. */
  readonly completed?: TriageRun;
}

const names = (columns: readonly string[]) => columns.map((name) => `run.${name}`).join(', ');
const LISTED = names(LISTED_COLUMNS);

const IS_RUNNING = '(work.worker is not null and not work.ready)';
/** A lane with a reason is paused, or one run tries whether the reason is over. */
const FROM = `
  triage_runs run
  left join work on run.status = 'queued' and work.kind = '${TRIAGE.name}' and work.ref = run.id
  left join work_lanes lane on lane.lane = work.lane and lane.reason is not null and not ${IS_RUNNING}`;
const columnsOf = (all: readonly string[]) => `
  ${names(all.filter((name) => name !== 'status' && name !== 'error'))},
  case when ${IS_RUNNING} then 'running' else run.status end as status,
  coalesce(lane.reason, run.error) as error,
  case when not ${IS_RUNNING} and coalesce(lane.reason, run.error) is not null
       then greatest(work.due_at, lane.paused_until) end as next_attempt_at`;
const SHOWN = columnsOf(LISTED_COLUMNS);

const INSERT: Statement = {
  name: 'triage_runs_insert',
  text: `
    insert into triage_runs as run (id, incident_id, status, requested_by, force, playbook, provider, created_at)
    select id, incident_id, 'queued', requested_by, force, playbook, provider, created_at
      from jsonb_to_recordset($1::jsonb) as added (
        id uuid, incident_id uuid, requested_by text, force boolean, playbook text, provider text, created_at timestamptz)
     order by incident_id
    returning ${LISTED}`,
};

const TAKE_OVER: Statement = {
  name: 'triage_runs_take_over',
  text: `
    update triage_runs run set requested_by = $2, force = $3, playbook = $4, provider = $5
     where id = $1 and status = 'queued' returning ${LISTED}`,
};

const KNOWN: Statement = {
  name: 'triage_runs_known',
  text: `
    select distinct on (run.incident_id, run.status) ${SHOWN} from ${FROM}
     where run.incident_id = any($1::uuid[]) and run.status in ('queued', 'completed')
     order by run.incident_id, run.status, run.id desc`,
};

const QUEUED: Statement = {
  name: 'triage_runs_queued',
  text: `select ${LISTED} from triage_runs run where id = any($1::uuid[]) and status = 'queued'`,
};

const BEGIN: Statement = {
  name: 'triage_runs_begin',
  text: `
    update triage_runs run set started_at = now(), provider = $2
     where id = $1 and status = 'queued' returning ${LISTED}`,
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
           input_tokens = run.input_tokens + coalesce(change.input, 0),
           output_tokens = run.output_tokens + coalesce(change.output, 0),
           cached_input_tokens = run.cached_input_tokens + coalesce(change.cached_input, 0),
           tokens_at = case when change.input + change.output > 0 then now() else run.tokens_at end
      from jsonb_to_recordset($1::jsonb) as change (
        id uuid, columns jsonb, input integer, output integer, cached_input integer)
     where run.id = change.id and run.status = 'queued'
    returning ${names(RUN_COLUMNS)}`,
};

const LIST = (direction: 'asc' | 'desc'): Statement => ({
  name: `triage_runs_list_${direction}`,
  text: listStatement({
    ctes: [`run as (select ${SHOWN} from ${FROM} where run.incident_id = $1)`],
    total: '(select count(*) from triage_runs where incident_id = $1)',
    ids: `select id from triage_runs where incident_id = $1 order by id ${direction} offset $2 limit $3`,
    columns: 'run.*',
    table: 'run',
    order: byId(direction),
  }),
});

const FIND: Statement = {
  name: 'triage_runs_find',
  text: `select ${columnsOf(RUN_COLUMNS)} from ${FROM} where run.incident_id = $1 and run.id = $2`,
};

const OPEN: Statement = {
  name: 'triage_runs_open',
  text: `select id from triage_runs where status = 'queued' and ($1::uuid is null or incident_id = $1)`,
};

const OVERDUE: Statement = {
  name: 'triage_runs_overdue',
  text: `
    select ${SHOWN} from ${FROM}
     where run.status = 'queued' and run.created_at <= $1 and not ${IS_RUNNING}
       and ($2 or lane.reason is not null and lane.reason ->> 'reason' <> 'token_budget')
     order by run.incident_id limit $3`,
};

const RESTING: Statement = {
  name: 'triage_runs_resting',
  text: `
    select id from triage_runs
     where status = 'queued' and (provider <> $1 or error ->> 'reason' = any($2::text[]))`,
};

const COUNT_OPEN: Statement = {
  name: 'triage_runs_count_open',
  text: `
    select count(*) filter (where not ${IS_RUNNING})::int as queued, count(*) filter (where ${IS_RUNNING})::int as running
      from work where kind = '${TRIAGE.name}' and died_at is null`,
};

/** Counted from the newest use back, the use that reaches the budget has to become an hour old. */
const BUDGET_FREE_AT: Statement = {
  name: 'triage_runs_budget_free_at',
  text: `
    select max(at) + interval '1 hour' as free_at
      from (select tokens_at as at, sum(input_tokens + output_tokens) over (order by tokens_at desc, id) as tokens
              from triage_runs where tokens_at > now() - interval '1 hour') as recent
     where tokens >= $1`,
};

@Injectable()
export class TriageRunsRepository {
  constructor(private readonly statements: Statements) {}

  /** Violates uq_triage_runs_open if a run of the incident is open. Returns the runs in the given order. */
  async insert(tx: Tx, runs: readonly NewRun[]): Promise<TriageRun[]> {
    const rows = await this.statements.rowsIn<TriageRun>(tx, INSERT, [JSON.stringify(runs)]);
    const inserted = new Map(rows.map((row) => [row.id, row]));
    return runs.map(({ id }) => inserted.get(id)!);
  }

  /** Gives a run that waits to another principal. Undefined if it has ended. */
  async takeOver(
    tx: Tx,
    { id, requested_by, force, playbook, provider }: NewRun,
  ): Promise<TriageRun | undefined> {
    const values = [id, requested_by, force, playbook, provider];
    return (await this.statements.rowsIn<TriageRun>(tx, TAKE_OVER, values))[0];
  }

  /** By incident. */
  async known(incidentIds: readonly string[], tx?: Tx): Promise<ReadonlyMap<string, KnownRuns>> {
    const rows = await this.statements.rowsIn<TriageRun>(tx, KNOWN, [incidentIds]);
    const known = new Map<string, KnownRuns>();
    for (const row of rows) {
      const key = row.status === 'completed' ? 'completed' : 'open';
      known.set(row.incident_id, { ...known.get(row.incident_id), [key]: row });
    }
    return known;
  }

  /** The open runs among those with these ids. */
  async queued(tx: Tx, ids: readonly string[]): Promise<TriageRun[]> {
    return await this.statements.rowsIn<TriageRun>(tx, QUEUED, [ids]);
  }

  /** Notes the begin of an attempt. Undefined if the run has ended. */
  async begin(id: string, provider: TriageRun['provider']): Promise<TriageRun | undefined> {
    return (await this.statements.rows<TriageRun>(BEGIN, [id, provider]))[0];
  }

  /** Changes open runs. Returns them by id, without those that have ended. */
  async change(tx: Tx, changes: readonly RunChange[]): Promise<ReadonlyMap<string, TriageRun>> {
    const rows = changes.map(({ id, columns, tokens, asked }) => {
      const who = asked && { model: asked.model, prompt_hash: asked.promptHash };
      return { id, columns: { ...who, ...columns }, ...countedTokens(tokens) };
    });
    const changed = await this.statements.rowsIn<TriageRun>(tx, CHANGE, [JSON.stringify(rows)]);
    return new Map(changed.map((run) => [run.id, run]));
  }

  async list(
    incidentId: string,
    { page, per_page, newestFirst }: RunListRequest,
  ): Promise<Page<TriageRun>> {
    const values = [incidentId, (page - 1) * per_page, per_page];
    const statement = LIST(newestFirst ? 'desc' : 'asc');
    return pageOf(
      await this.statements.rows<TriageRun & WithTotal>(statement, values),
      (run) => run,
    );
  }

  /** With all columns. */
  async find(incidentId: string, id: string, tx?: Tx): Promise<TriageRun | undefined> {
    const values = [incidentId, id];
    const rows = await this.statements.rowsIn<TriageRun>(tx, FIND, values);
    return rows[0];
  }

  /** Ids of the open runs of all incidents, or of one. */
  async open(tx: Tx, incidentId?: string): Promise<string[]> {
    const rows = await this.statements.rowsIn<{ id: string }>(tx, OPEN, [incidentId]);
    return rows.map(({ id }) => id);
  }

  /**
   * Runs that were created before the given time and wait although they are due.
   *
   * @param withoutProvider whether they also wait while their lane is not paused
   */
  async overdue(before: Date, withoutProvider: boolean, limit: number): Promise<TriageRun[]> {
    return await this.statements.rows<TriageRun>(OVERDUE, [before, withoutProvider, limit]);
  }

  /** Ids of open runs that were to ask another provider, or whose last attempt failed for one of the reasons. */
  async resting(
    tx: Tx,
    provider: TriageRun['provider'],
    reasons: readonly UnavailableReason[],
  ): Promise<string[]> {
    const rows = await this.statements.rowsIn<{ id: string }>(tx, RESTING, [provider, reasons]);
    return rows.map(({ id }) => id);
  }

  async countOpen(): Promise<Readonly<Record<'queued' | 'running', number>>> {
    const [counts] = await this.statements.rows<{ queued: number; running: number }>(COUNT_OPEN);
    return counts!;
  }

  /** When the use of the last hour falls below the budget. Undefined if that is so now. */
  async budgetFreeAt(budget: number): Promise<Date | undefined> {
    const [row] = await this.statements.rows<{ free_at: Date | null }>(BUDGET_FREE_AT, [budget]);
    return row?.free_at ?? undefined;
  }
}

/** More than any attempt uses: the sum of many still fits the column. */
const MOST_TOKENS = 50_000_000;

function countedTokens(tokens: TokenUse | undefined) {
  if (!tokens) return {};
  const counted = (n: number) => Math.min(MOST_TOKENS, Math.max(0, Math.trunc(n) || 0));
  const { input, output, cachedInput = 0 } = tokens;
  return { input: counted(input), output: counted(output), cached_input: counted(cachedInput) };
}
