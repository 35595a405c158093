// SQL for the steps, which are read with their actions each time that a run goes on, and for the turn of an automatic run.
import { Injectable } from '@nestjs/common';
import { DataSource, Raw } from 'typeorm';
import { Batcher } from '../../../platform/concurrency/batcher.js';
import { SetOf } from '../../../platform/concurrency/joint-transactions.js';
import { type Statement, Statements } from '../../../platform/database/statements.js';
import type { Tx } from '../../../platform/database/transactions.js';
import {
  type PlaybookRunSummary,
  type ReachedStep,
  type RunInput,
  waitsForTurn,
} from '../playbook-run.js';
import { PlaybookRunEntity } from './playbook-run.entity.js';
import { runOf, stepOf, type StepRow } from './run-rows.js';

interface NewPlaybookRun extends RunInput {
  readonly id: string;
  readonly playbookId: string;
  readonly playbookVersion: number;
  readonly playbookName: string;
  readonly requestedBy: string;
  readonly onBehalfOf?: string;
  readonly automatic: boolean;
  readonly stepsTotal: number;
  readonly startedAt: Date;
  readonly startsAt?: Date;
  /** Lease of the replica that creates the run. Without it the run waits for any replica. */
  readonly claimForMs?: number;
}

type AutomaticRun = Pick<NewPlaybookRun, 'playbookId' | 'playbookVersion'> & {
  readonly incidentId: string;
};

const STEPS: Statement = {
  name: 'playbook_run_steps_find',
  text: `
    select step.*, action.action_type as type, action.status as action_status, action.parameters,
           action.approval_level, action.result, action.rejected_by, action.rejection_reason, action.rejection_code,
           action.playbook_run_id is distinct from step.run_id as borrowed,
           action.incident_id is distinct from run.incident_id as elsewhere,
           action.requested_by, incident.number, incident.created_at as incident_created_at
      from playbook_run_steps step join playbook_runs run on run.id = step.run_id
      left join actions action on action.id = step.action_id
      left join incidents incident on incident.id = action.incident_id and incident.deleted_at is null
     where step.run_id = any($1::uuid[]) order by step.run_id, step.position`,
};

/** Another transaction waits until this one ends, so that no two runs get the same turn. */
const LOCK_PLAYBOOKS: Statement = {
  name: 'playbook_runs_lock_playbooks',
  text: `select id from playbooks where id = any($1::uuid[]) order by id for no key update`,
};

/** A run that was cancelled before its turn leaves its turn to another run. */
const TURN: Statement = {
  name: 'playbook_runs_turn',
  text: `
    select starts_at + interval '1 hour' as turn from playbook_runs
     where playbook_id = $1 and starts_at is not null and (completed_at is null or completed_at >= starts_at)
     order by starts_at desc offset $2::integer - 1 limit 1`,
};

const WAITS = (run: string) => `${run}.starts_at > now() and ${run}.completed_at is null`;

/**
 * Gives the turns of the waiting runs of $1 to the runs in a new order: by the severity of the incident, then by age. Nothing is read
 * where the new run $2 is the least severe, as in a flood of like incidents. The locks wait for nobody, because a cancellation locks
 * runs of several playbooks.
 */
const ORDER_TURNS: Statement = {
  name: 'playbook_runs_order_turns',
  text: `
    with waiting as materialized (
      select run.id, run.starts_at, incident.severity
        from playbook_runs run join incidents incident on incident.id = run.incident_id
       where run.playbook_id = $1 and ${WAITS('run')}
         and ($2::uuid is null or (
           select own.severity from incidents own join playbook_runs new on new.incident_id = own.id where new.id = $2) > (
           select last_incident.severity
             from playbook_runs last join incidents last_incident on last_incident.id = last.incident_id
            where last.playbook_id = $1 and ${WAITS('last')} and last.id <> $2 order by last.starts_at desc limit 1))
         for no key update of run skip locked),
    numbered as (
      select id, starts_at, row_number() over (order by severity desc, id) as place,
             row_number() over (order by starts_at, id) as turn
        from waiting)
    update playbook_runs run set starts_at = given.starts_at, due_at = given.starts_at
      from numbered as one join numbered as given on given.turn = one.place
     where run.id = one.id and run.starts_at <> given.starts_at
    returning run.id, run.starts_at`,
};

const WAITING_PLAYBOOKS: Statement = {
  name: 'playbook_runs_waiting_playbooks',
  text: `
    select distinct playbook_id as id from playbook_runs run where run.incident_id = any($1::uuid[]) and ${WAITS('run')}`,
};

const NEW_COLUMNS = [
  'id',
  'playbook_id',
  'playbook_version',
  'playbook_name',
  'incident_id',
  'requested_by',
  'on_behalf_of',
  'automatic',
  'classification',
  'variables',
  'incident',
  'steps_total',
  'started_at',
  'starts_at',
  'fence',
  'attempts',
] as const satisfies (keyof PlaybookRunEntity)[];

const INSERT: Statement = {
  name: 'playbook_runs_insert',
  text: `
    insert into playbook_runs (${NEW_COLUMNS.join(', ')}, status, due_at, lease_until)
    select ${NEW_COLUMNS.map((name) => `run.${name}`).join(', ')}, 'running', coalesce(run.due_at, now()),
           now() + (added ->> 'claim_ms')::integer * interval '1 millisecond'
      from json_array_elements($1::json) as added, json_populate_record(null::playbook_runs, added) as run
     order by run.id
        on conflict do nothing
    returning id`,
};

const AUTOMATIC: Statement = {
  name: 'playbook_runs_automatic',
  text: `
    select which.n::integer, run.classification
      from unnest($1::uuid[], $2::uuid[], $3::integer[]) with ordinality as which (incident_id, playbook_id, version, n)
      join playbook_runs run on run.incident_id = which.incident_id and run.playbook_id = which.playbook_id
       and run.playbook_version = which.version and run.automatic and not run.void`,
};

/** Inserts and reads runs. RunWritesRepository changes them. */
@Injectable()
export class PlaybookRunsRepository {
  private readonly insertions = new SetOf<NewPlaybookRun, boolean>((tx, runs) =>
    this.insertAll(tx, runs),
  );
  private readonly automatic = new SetOf<AutomaticRun, string[]>((tx, which) =>
    this.classificationsOf(tx, which),
  );
  private readonly steps = new Batcher<string, ReachedStep[]>((ids) => this.stepsOfAll(ids));

  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  /** Returns false if the automatic run exists. */
  async insert(tx: Tx, run: NewPlaybookRun): Promise<boolean> {
    return await this.insertions.submit(tx, run);
  }

  /** Returns the classifications with which the version has run automatically for the incident. */
  async automaticallyRunFor(
    tx: Tx,
    { playbookId, playbookVersion, incidentId }: AutomaticRun,
  ): Promise<string[]> {
    return await this.automatic.submit(tx, { playbookId, playbookVersion, incidentId });
  }

  /** Locks the playbooks for turnOf, in the order of their ids, so that two replicas cannot wait for each other. */
  async lockPlaybooks(tx: Tx, ids: readonly string[]): Promise<void> {
    await this.statements.rowsIn(tx, LOCK_PLAYBOOKS, [ids]);
  }

  /** Time when the next automatic run of the playbook may begin: at most `limit` begin within an hour. The playbook is locked. */
  async turnOf(tx: Tx, playbookId: string, limit: number, earliest: Date): Promise<Date> {
    const [row] = await this.statements.rowsIn<{ turn: Date }>(tx, TURN, [playbookId, limit]);
    return row && row.turn > earliest ? row.turn : earliest;
  }

  /**
   * Lets waiting runs of more severe incidents begin first. Returns the new turn of the new run, if its turn changed. The playbook is
   * locked.
   */
  async orderTurns(tx: Tx, playbookId: string, newRun?: string): Promise<Date | undefined> {
    const rows = await this.statements.rowsIn<{ id: string; starts_at: Date }>(tx, ORDER_TURNS, [
      playbookId,
      newRun ?? null,
    ]);
    return rows.find(({ id }) => id === newRun)?.starts_at;
  }

  /** The playbooks that have runs of these incidents that wait for their turn. */
  async waitingFor(tx: Tx, incidentIds: readonly string[]): Promise<string[]> {
    const rows = await this.statements.rowsIn<{ id: string }>(tx, WAITING_PLAYBOOKS, [incidentIds]);
    return rows.map(({ id }) => id);
  }

  async find(id: string): Promise<PlaybookRunSummary | undefined> {
    const row = await this.runs.findOneBy({ id });
    return row ? runOf(row) : undefined;
  }

  /** Returns the reached steps of the run, in order. */
  async stepsOf(runId: string): Promise<ReachedStep[]> {
    return await this.steps.submit(runId);
  }

  async stepsIn(tx: Tx, runId: string): Promise<ReachedStep[]> {
    return (await this.statements.rowsIn<StepRow>(tx, STEPS, [[runId]])).map(stepOf);
  }

  /** Counts runs with something to do now: the kill switch holds them while it is on. */
  async countDue(): Promise<number> {
    return await this.runs.countBy({ due_at: Raw((column) => `${column} <= now()`) });
  }

  private async insertAll(tx: Tx, runs: readonly NewPlaybookRun[]): Promise<boolean[]> {
    const rows = await this.statements.rowsIn<{ id: string }>(tx, INSERT, [
      JSON.stringify(runs.map(rowOfNew)),
    ]);
    const inserted = new Set(rows.map(({ id }) => id));
    return runs.map(({ id }) => inserted.has(id));
  }

  private async classificationsOf(tx: Tx, which: readonly AutomaticRun[]): Promise<string[][]> {
    const rows = await this.statements.rowsIn<{ n: number; classification: string }>(
      tx,
      AUTOMATIC,
      [
        which.map(({ incidentId }) => incidentId),
        which.map(({ playbookId }) => playbookId),
        which.map(({ playbookVersion }) => playbookVersion),
      ],
    );
    return which.map((_, at) =>
      rows.flatMap(({ n, classification }) => (n === at + 1 ? [classification] : [])),
    );
  }

  private async stepsOfAll(runIds: readonly string[]): Promise<ReachedStep[][]> {
    const rows = await this.statements.rows<StepRow>(STEPS, [[...new Set(runIds)]]);
    const byRun = Map.groupBy(rows, ({ run_id }) => run_id);
    return runIds.map((id) => (byRun.get(id) ?? []).map(stepOf));
  }

  private get runs() {
    return this.dataSource.getRepository(PlaybookRunEntity);
  }
}

function rowOfNew(run: NewPlaybookRun) {
  const { claimForMs } = run;
  const claims = claimForMs === undefined ? 0 : 1;
  return {
    id: run.id,
    playbook_id: run.playbookId,
    playbook_version: run.playbookVersion,
    playbook_name: run.playbookName,
    incident_id: run.incident?.id,
    requested_by: run.requestedBy,
    on_behalf_of: run.onBehalfOf,
    automatic: run.automatic,
    classification: run.automatic ? (run.incident?.verdict?.classification ?? '') : '',
    variables: run.variables,
    incident: run.incident,
    steps_total: run.stepsTotal,
    started_at: run.startedAt,
    starts_at: run.startsAt,
    due_at: waitsForTurn(run) ? run.startsAt : undefined,
    fence: claims,
    attempts: claims,
    claim_ms: claimForMs,
  };
}
