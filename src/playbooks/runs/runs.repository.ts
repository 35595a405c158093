// SQL: one statement reads, locks or stores a batch of runs, and one returns a page of a list and its exact total.
import { Injectable } from '@nestjs/common';
import {
  BY_ID,
  countedList,
  countOf,
  equal,
  readPage,
} from '../../platform/counting/counted-list.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import { firstIdAfter, firstIdAt, wholeMs } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import type { NewWork } from '../../platform/work/kind.js';
import type { PlaybookVersion } from '../playbook.js';
import {
  type PlaybookRun,
  type PlaybookRunWithSteps,
  type ReachedStep,
  RUN_WORK,
  type StepChange,
} from './playbook-run.js';
import { type AllPlaybookRunsQueryDto, type RunOutcome } from './runs.dto.js';

export interface OpenRun extends PlaybookRun {
  readonly playbook: PlaybookVersion;
  readonly authors: readonly string[] | null;
  readonly raw_data: string | null;
  readonly has_steps: boolean;
  readonly early_ms: number;
}

export interface RunMove {
  readonly run: PlaybookRun;
  readonly steps: readonly StepChange[];
}

const badness = (of: string) =>
  `coalesce(array_position(array['inconclusive', 'suspicious', 'malicious'], ${of}.classification), 0)`;

/** Omits an automatic run if its version already ran for the incident with an equal or worse verdict. */
const INSERT: Statement = {
  name: 'playbook_runs_insert',
  text: `
    insert into playbook_runs
    select given.*
      from json_populate_recordset(null::playbook_runs, $1::json) as given
     where not given.automatic or not exists (
       select from playbook_runs run
        where run.incident_id = given.incident_id and run.playbook_id = given.playbook_id
          and run.playbook_version = given.playbook_version and run.automatic and not run.void
          and ${badness('run')} >= ${badness('given')})
     order by given.id
        on conflict do nothing
    returning id`,
};

const FROM_RUNS = `playbook_runs run join playbook_versions version
        on version.playbook_id = run.playbook_id and version.version = run.playbook_version`;
const PLAYBOOK = `json_build_object(
             'id', run.playbook_id, 'version', run.playbook_version, 'name', run.playbook_name,
             'definition', version.definition) as playbook`;

const FIND: Statement = {
  name: 'playbook_runs_find',
  text: `select run.*, ${PLAYBOOK} from ${FROM_RUNS} where run.id = $1`,
};

/** Reads `waiting_approval` from the action of the step, because an approval does not change the step's row. */
const STEPS: Statement = {
  name: 'playbook_run_steps_find',
  text: `
    select step.run_id, step.position, step.name, step.error, step.started_at, step.completed_at,
           case when step.completed_at is not null then step.status
                when action.status = 'pending_approval' then 'waiting_approval' else 'running' end as status,
           case when action.id is not null then json_build_object(
             'id', action.id, 'action_type', action.action_type, 'status', action.status,
             'parameters', action.parameters, 'approval_level', action.approval_level, 'result', action.result,
             'rejected_by', action.rejected_by, 'rejection_reason', action.rejection_reason,
             'rejection_code', action.rejection_code,
             'borrowed', action.playbook_run_id is distinct from step.run_id,
             'elsewhere', action.incident_id is distinct from run.incident_id,
             'requested_by', action.requested_by, 'incident_number', incident.incident_number) end as action
      from playbook_run_steps step join playbook_runs run on run.id = step.run_id
      left join actions action on action.id = step.action_id
      left join incidents incident on incident.id = action.incident_id and incident.deleted_at is null
     where step.run_id = any($1::uuid[]) order by step.run_id, step.position`,
};

const OPEN: Statement = {
  name: 'playbook_runs_open',
  text: `
    select run.*, ${PLAYBOOK}, incident.raw_data::text as raw_data,
           case when run.automatic then array_remove(
             array[version.changed_by, version.auto_run_by, version.trust_verdict_by], null) end as authors,
           exists (select from playbook_run_steps step where step.run_id = run.id) as has_steps,
           coalesce(greatest(0, extract(epoch from run.starts_at - now()) * 1000), 0)::float8 as early_ms
      from ${FROM_RUNS} left join incidents incident on incident.id = run.incident_id
     where run.id = any($1::uuid[]) and run.completed_at is null order by run.id`,
};

/** Finds the runs by an array of ids, because a join may read all runs if the statistics are old. */
const STORE: Statement = {
  name: 'playbook_runs_store',
  text: `
    with move as materialized (
      select * from json_to_recordset($1::json) as move (
        id uuid, status text, steps_completed integer, steps_failed integer, error text, void boolean,
        at timestamptz, steps json)),
    moved as (
      update playbook_runs run
         set status = move.status, steps_completed = move.steps_completed, steps_failed = move.steps_failed,
             error = move.error, void = move.void,
             completed_at = case when move.status not in ('running', 'waiting_approval') then move.at end
        from move where run.id = any(array(select id from move)) and run.id = move.id)
    insert into playbook_run_steps (run_id, position, name, status, action_id, error, started_at, completed_at)
    select move.id, step.position, step.name, step.status, step.action_id, step.error, move.at,
           case when step.status in ('running', 'waiting_approval') then null else move.at end
      from move, json_to_recordset(move.steps) as step (position integer, name text, status text, action_id uuid, error text)
    on conflict (run_id, position) do update
      set status = excluded.status, action_id = excluded.action_id, error = excluded.error, completed_at = excluded.completed_at`,
};

const WAITING_FOR: Statement = {
  name: 'playbook_runs_waiting_for',
  text: `
    select id as ref, case when automatic then 2 else 1 end as urgency from playbook_runs
     where completed_at is null and id in (
       select run_id from playbook_run_steps where completed_at is null and action_id = any($1::uuid[]))
     order by id`,
};

const DID_NOTHING = `not exists (
        select from playbook_run_steps step join actions action on action.id = step.action_id
         where step.run_id = playbook_runs.id and action.status <> 'rejected')`;

const HELD = `
  select run.id
    from work cross join lateral (select id, starts_at from playbook_runs where id = work.ref limit 1) as run
   where work.kind = '${RUN_WORK.name}' and work.died_at is null
     and (run.starts_at is null or run.starts_at <= now())`;

const WHICH = {
  runs: 'id = any($1::uuid[])',
  incident: 'incident_id = $1',
  held: `id = any(array(${HELD})) and $1::uuid is null`,
  all: '$1::uuid is null',
};

/** A separate statement after the lock: a statement that waits for a lock does not see steps added meanwhile. */
const CANCEL: Statement = {
  name: 'playbook_runs_cancel',
  text: `
    with cancelled as (
      update playbook_runs set status = 'cancelled', error = $2, completed_at = $3, void = $4::boolean and ${DID_NOTHING}
       where id = any($1::uuid[])
      returning *),
    stopped as (
      update playbook_run_steps set status = 'cancelled', completed_at = $3
       where run_id = any($1::uuid[]) and completed_at is null)
    select * from cancelled`,
};

/**
 * Gives turns to the new runs $3 and the waiting runs of the playbook $1, at most $2 per hour. The runs are sorted by
 * the severity of the incident, then by age. The turn of each run is an hour after the run that began $2 places
 * earlier. If a run was cancelled before its turn, another run gets the turn. Skips locked runs, because a cancellation
 * locks runs of several playbooks.
 */
const GIVE_TURNS: Statement = {
  name: 'playbook_runs_give_turns',
  text: `
    with last as materialized (
      select incident.severity
        from playbook_runs run join incidents incident on incident.id = run.incident_id
       where run.playbook_id = $1 and run.starts_at > $4 and run.completed_at is null
       order by run.starts_at desc limit 1),
    added as materialized (
      select coalesce(max(incident.severity) <= (select severity from last), false) as are_last
        from playbook_runs run join incidents incident on incident.id = run.incident_id
       where run.id = any($3::uuid[])),
    begun as (
      select starts_at, row_number() over (order by starts_at desc) as n from (
        select starts_at from playbook_runs
         where playbook_id = $1 and starts_at <= case when (select are_last from added) then 'infinity' else $4 end
           and (completed_at is null or completed_at >= starts_at)
         order by starts_at desc limit $2::integer) as latest),
    waiting as materialized (
      select run.id, incident.severity
        from playbook_runs run join incidents incident on incident.id = run.incident_id
       where run.id = any($3::uuid[] || array(
         select id from playbook_runs
          where playbook_id = $1 and starts_at > $4 and completed_at is null and not (select are_last from added)))
         for no key update of run skip locked),
    numbered as (select id, row_number() over (order by severity desc, id) - 1 as place from waiting),
    turn as (
      select id, greatest($4::timestamptz, starts_at + interval '1 hour') + place / $2 * interval '1 hour' as at
        from numbered left join begun on n = $2 - place % $2)
    update playbook_runs run set starts_at = turn.at from turn
     where run.id = turn.id and run.starts_at is distinct from turn.at
    returning run.id, run.starts_at`,
};

const OUTCOMES: Readonly<Record<RunOutcome, string>> = {
  succeeded: `(status = 'completed' and steps_failed = 0)`,
  partial: `(status = 'completed' and steps_failed > 0)`,
  failed: `(status = 'failed')`,
  cancelled: `(status = 'cancelled')`,
};

const runList = countedList({
  table: 'playbook_runs',
  columns: '*',
  counts: 'playbook_run',
  counted: {
    playbook_id: { filter: 'playbook_id', type: 'uuid' },
    status: { filter: 'status', type: 'text' },
  },
  filters: {
    outcome: (outcomes: readonly RunOutcome[]) =>
      `(${outcomes.map((outcome) => OUTCOMES[outcome]).join(' or ')})`,
    incident_id: equal('incident_id', 'uuid'),
    from: (time: string, values) => `id >= ${values.add(firstIdAt(wholeMs(time)), 'uuid')}`,
    to: (time: string, values) => `id < ${values.add(firstIdAfter(time), 'uuid')}`,
  },
  sorts: { created_at: BY_ID },
});

const countOpen = (status: 'running' | 'waiting_approval') => `
    greatest(0, ${countOf('playbook_run', [`status = '${status}'`])}
      - (select count(*) from idle where status = '${status}'))::integer as ${status}`;

/** Counts open runs. A run with unclaimed work counts only as `due` or `rate_limited`. */
const COUNT_OPEN: Statement = {
  name: 'playbook_runs_open_counts',
  text: `
    with idle as materialized (
      select run.status, coalesce(run.starts_at > now(), false) as is_early,
             greatest(work.added_at, run.starts_at) as since
        from work
       cross join lateral (select status, starts_at from playbook_runs where id = work.ref limit 1) as run
       where work.kind = '${RUN_WORK.name}' and work.died_at is null and (work.ready or work.worker is null))
    select count(*) filter (where not is_early)::integer as due,
           count(*) filter (where is_early)::integer as rate_limited,
           coalesce(extract(epoch from now() - min(since) filter (where not is_early)), 0)::float8 as oldest_due_seconds,
           ${countOpen('running')}, ${countOpen('waiting_approval')}
      from idle`,
};

export const OPEN_STATUSES = ['due', 'rate_limited', 'running', 'waiting_approval'] as const;
type OpenCounts = Readonly<Record<(typeof OPEN_STATUSES)[number] | 'oldest_due_seconds', number>>;

@Injectable()
export class RunsRepository {
  constructor(private readonly statements: Statements) {}

  async insert(tx: Tx, runs: readonly PlaybookRun[]): Promise<PlaybookRun[]> {
    const ids = await this.statements.rowsIn<{ id: string }>(tx, INSERT, [JSON.stringify(runs)]);
    const inserted = new Set(ids.map(({ id }) => id));
    return runs.filter(({ id }) => inserted.has(id));
  }

  async list(request: AllPlaybookRunsQueryDto): Promise<Page<PlaybookRun>> {
    return await readPage(this.statements, runList(request));
  }

  async openCounts(): Promise<OpenCounts> {
    return (await this.statements.rows<OpenCounts>(COUNT_OPEN))[0]!;
  }

  async find(id: string): Promise<PlaybookRunWithSteps | undefined> {
    type Row = Omit<PlaybookRunWithSteps, 'steps'>;
    const [run] = await this.statements.rows<Row>(FIND, [id]);
    return run && { ...run, steps: (await this.stepsOf([id]))(id) };
  }

  async stepsOf(ids: readonly string[], tx?: Tx): Promise<(id: string) => readonly ReachedStep[]> {
    type Row = ReachedStep & { readonly run_id: string };
    const rows = await this.statements.rowsIn<Row>(tx, STEPS, [ids]);
    const byRun = Map.groupBy(rows, ({ run_id }) => run_id);
    return (id) => byRun.get(id) ?? [];
  }

  async open(tx: Tx, ids: readonly string[]): Promise<OpenRun[]> {
    return await this.statements.rowsIn<OpenRun>(tx, OPEN, [ids]);
  }

  async lock(
    tx: Tx,
    which: keyof typeof WHICH,
    value: readonly string[] | string | null,
  ): Promise<string[]> {
    const name = `playbook_runs_lock_${which}`;
    const text = `
      select id from playbook_runs where completed_at is null and ${WHICH[which]} order by id for no key update`;
    const rows = await this.statements.rowsIn<{ id: string }>(tx, { name, text }, [value]);
    return rows.map(({ id }) => id);
  }

  async store(tx: Tx, moves: readonly RunMove[], at: Date): Promise<void> {
    const rows = moves.map(({ run, steps }) => {
      const { id, status, steps_completed, steps_failed, error } = run;
      return { id, status, steps_completed, steps_failed, error, void: run.void, at, steps };
    });
    await this.statements.rowsIn(tx, STORE, [JSON.stringify(rows)]);
  }

  /** Returns the work of open runs that wait for these actions. Runs that a person started are more urgent. */
  async waitingFor(tx: Tx, actionIds: readonly string[]): Promise<NewWork[]> {
    return await this.statements.rowsIn(tx, WAITING_FOR, [actionIds]);
  }

  async giveTurns(
    tx: Tx,
    playbookId: string,
    limit: number,
    newRuns: readonly string[],
    earliest: Date,
  ): Promise<Pick<PlaybookRun, 'id' | 'starts_at'>[]> {
    return await this.statements.rowsIn(tx, GIVE_TURNS, [playbookId, limit, newRuns, earliest]);
  }

  async countHeld(): Promise<number> {
    const text = `select count(*)::integer as n from (${HELD}) as held`;
    return (await this.statements.rows<{ n: number }>({ name: 'playbook_runs_held', text }))[0]!.n;
  }

  async cancel(
    tx: Tx,
    which: keyof typeof WHICH,
    value: readonly string[] | string | null,
    why: string,
    at: Date,
  ): Promise<PlaybookRun[]> {
    const ids = await this.lock(tx, which, value);
    // A run that a person cancels is not void: the decision also applies to the next triage with the same verdict.
    const mayBeVoid = which === 'incident' || which === 'held';
    return await this.statements.rowsIn(tx, CANCEL, [ids, why, at, mayBeVoid]);
  }
}
