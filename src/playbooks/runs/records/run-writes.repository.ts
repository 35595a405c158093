// SQL: a run moves by one statement, which changes it and its steps on the condition of its claim.
import { Injectable } from '@nestjs/common';
import { IS_KILL_SWITCH_ON } from '../../../kill-switch/kill-switch.js';
import { SetOf } from '../../../platform/concurrency/joint-transactions.js';
import { type Statement, Statements } from '../../../platform/database/statements.js';
import type { Tx } from '../../../platform/database/transactions.js';
import type { SettledStep } from '../next-move.js';
import type { EndedStatus, OpenStatus, PlaybookRunSummary, RunProgress } from '../playbook-run.js';
import { IS_DUE, RUN_COLUMNS, runOf, type RunRow } from './run-rows.js';

/** Identifies a claim of a run. `wakes` is the count at the time of the claim. */
export type Claim = Pick<PlaybookRunSummary, 'id' | 'fence' | 'wakes'>;

/** The step that this move begins. */
interface BegunStep {
  readonly position: number;
  readonly name: string;
  readonly actionId: string;
  readonly status: OpenStatus;
}

export interface RunMove extends RunProgress {
  readonly settled: readonly SettledStep[];
  readonly begun?: BegunStep;
  readonly at: Date;
  /** `hold`: the replica continues the run. `rest`: the run waits until it is woken. */
  readonly then:
    | { readonly kind: 'hold'; readonly leaseMs: number }
    | { readonly kind: 'rest'; readonly status: OpenStatus }
    | { readonly kind: 'end'; readonly status: EndedStatus; readonly error?: string };
}

interface ClaimedMove {
  readonly claim: Claim;
  readonly move: RunMove;
}

const OPEN = `completed_at is null`;
const COLUMNS = RUN_COLUMNS.map((column) => `playbook_runs.${column}`).join(', ');

const CLAIM: Statement = {
  name: 'playbook_runs_claim',
  text: `
    update playbook_runs
       set fence = fence + 1, attempts = attempts + 1, lease_until = now() + $2 * interval '1 millisecond'
     where id = any(array(
       select id from playbook_runs where ${IS_DUE} and not ${IS_KILL_SWITCH_ON}
        order by due_at limit $1 for update skip locked))
    returning ${COLUMNS}`,
};

/**
 * A run that rests is due again at once where there was a reason to wake it since it was claimed. Runs are locked in the order in
 * which a wake-up of several runs locks them. They are found by arrays of ids: with a join, a plan that is as old as the first runs
 * reads all runs.
 */
const MOVE: Statement = {
  name: 'playbook_runs_move',
  text: `
    with move as materialized (
      select * from json_to_recordset($1::json) as move (
        id uuid, fence integer, wakes integer, status text, steps_completed integer, steps_failed integer, error text,
        ended_at timestamptz, lease_ms integer, at timestamptz, steps json)),
    locked as materialized (
      select id from playbook_runs where id = any(array(select id from move)) order by coalesce(incident_id, id), id for update),
    moved as (
      update playbook_runs run
         set status = move.status, steps_completed = move.steps_completed, steps_failed = move.steps_failed,
             error = move.error, completed_at = move.ended_at, attempts = 0,
             lease_until = now() + move.lease_ms * interval '1 millisecond',
             due_at = case when move.ended_at is not null then null
                           when move.lease_ms is not null or run.wakes <> move.wakes then coalesce(run.due_at, now()) end
        from move join locked using (id)
       where run.id = any(array(select id from locked)) and run.id = move.id and run.fence = move.fence and run.${OPEN}
      returning run.id, move.at, move.steps),
    noted as (
      insert into playbook_run_steps (run_id, position, name, status, action_id, error, started_at, completed_at)
      select moved.id, step.position, step.name, step.status, step.action_id, step.error, moved.at,
             case when step.status in ('running', 'waiting_approval') then null else moved.at end
        from moved, json_to_recordset(moved.steps) as step (position integer, name text, status text, action_id uuid, error text)
      on conflict (run_id, position) do update
        set status = excluded.status, action_id = excluded.action_id, error = excluded.error, completed_at = excluded.completed_at)
    select id from moved`,
};

const RELEASE: Statement = {
  name: 'playbook_runs_release',
  text: `
    update playbook_runs set lease_until = null, attempts = greatest(0, attempts - 1)
     where id = $1 and fence = $2 and ${OPEN}`,
};

/**
 * Those whose open step had this action. One that a replica works on learns of it when it rests. Rows are locked in the order in
 * which moves of several runs lock them.
 */
const wake = (found: string) => `
    update playbook_runs set wakes = wakes + 1, due_at = coalesce(due_at, now())
     where id in (
       select id from playbook_runs
        where ${OPEN} and id in (select step.run_id from playbook_run_steps step ${found})
        order by coalesce(incident_id, id), id for update)`;

const WAKE_FOR: Statement = {
  name: 'playbook_runs_wake_for',
  text: wake('where step.completed_at is null and step.action_id = any($1::uuid[])'),
};

/** Those that nobody woke although their action has ended, such as after a restore, which brings no events back. */
const WAKE_LOST: Statement = {
  name: 'playbook_runs_wake_lost',
  text: wake(`join actions action on action.id = step.action_id
       where step.completed_at is null and action.status in ('completed', 'failed', 'rejected')
         and playbook_runs.due_at is null`),
};

/** An action that was rejected has done nothing. */
const DID_NOTHING = `not exists (
        select from playbook_run_steps step join actions action on action.id = step.action_id
         where step.run_id = playbook_runs.id and action.status <> 'rejected')`;

/** Locks the runs in the order in which moves and wake-ups of several runs lock them. */
const CANCEL = (which: string, isVoid = 'false') => `
    with locked as materialized (
      select id from playbook_runs where ${OPEN} and ${which} order by coalesce(incident_id, id), id for update),
    cancelled as (
      update playbook_runs
         set status = 'cancelled', error = $2, completed_at = $3, due_at = null, lease_until = null, void = ${isVoid}
       where id in (select id from locked)
      returning ${COLUMNS}),
    stopped as (
      update playbook_run_steps set status = 'cancelled', completed_at = $3
       where run_id in (select id from cancelled) and completed_at is null)
    select * from cancelled`;

/** The decision of a person about this run. It also holds for the next triage with the same verdict. */
const CANCEL_ONE: Statement = { name: 'playbook_runs_cancel', text: CANCEL('id = $1') };
/** A run that another replica has claimed since is not cancelled. */
const CANCEL_CLAIMED: Statement = {
  name: 'playbook_runs_cancel_claimed',
  text: CANCEL('id = $1 and fence = $4', DID_NOTHING),
};
const CANCEL_OF_INCIDENT: Statement = {
  name: 'playbook_runs_cancel_of_incident',
  text: CANCEL('incident_id = $1', DID_NOTHING),
};
/** `$1` has no meaning here: the three statements take the same parameters. */
const CANCEL_DUE: Statement = {
  name: 'playbook_runs_cancel_due',
  text: CANCEL('due_at <= now() and $1::uuid is null', DID_NOTHING),
};

/** Every change of a run after its insertion. Each is conditional on what it leaves. */
@Injectable()
export class RunWritesRepository {
  private readonly moves = new SetOf<ClaimedMove, boolean>((tx, all) => this.moveAll(tx, all));

  constructor(private readonly statements: Statements) {}

  /**
   * Claims those that have been due for the longest time, and none while the kill switch is on. What another replica is just
   * claiming is left to it.
   */
  async claimDue(limit: number, leaseMs: number): Promise<PlaybookRunSummary[]> {
    return (await this.statements.rows<RunRow>(CLAIM, [limit, leaseMs])).map(runOf);
  }

  /** Returns false if the claim was lost or the run has ended. */
  async move(tx: Tx, claim: Claim, move: RunMove): Promise<boolean> {
    return await this.moves.submit(tx, { claim, move });
  }

  /** Releases the claim without counting the attempt. Any replica may claim the run. */
  async release({ id, fence }: Claim): Promise<void> {
    await this.statements.rows(RELEASE, [id, fence]);
  }

  /** Makes the runs due that wait for one of these actions. */
  async wakeFor(tx: Tx, actionIds: readonly string[]): Promise<void> {
    await this.statements.rowsIn(tx, WAKE_FOR, [actionIds]);
  }

  async wakeLost(tx: Tx): Promise<void> {
    await this.statements.rowsIn(tx, WAKE_LOST);
  }

  /** Returns `undefined` if the run has ended. */
  async cancel(tx: Tx, id: string, why: string, at: Date): Promise<PlaybookRunSummary | undefined> {
    return (await this.cancelBy(tx, CANCEL_ONE, [id, why, at]))[0];
  }

  async cancelClaimed(
    tx: Tx,
    { id, fence }: Claim,
    why: string,
    at: Date,
  ): Promise<PlaybookRunSummary | undefined> {
    return (await this.cancelBy(tx, CANCEL_CLAIMED, [id, why, at, fence]))[0];
  }

  async cancelOfIncident(
    tx: Tx,
    incidentId: string,
    why: string,
    at: Date,
  ): Promise<PlaybookRunSummary[]> {
    return await this.cancelBy(tx, CANCEL_OF_INCIDENT, [incidentId, why, at]);
  }

  async cancelDue(tx: Tx, why: string, at: Date): Promise<PlaybookRunSummary[]> {
    return await this.cancelBy(tx, CANCEL_DUE, [null, why, at]);
  }

  private async moveAll(tx: Tx, all: readonly ClaimedMove[]): Promise<boolean[]> {
    const rows = await this.statements.rowsIn<{ id: string }>(tx, MOVE, [
      JSON.stringify(all.map(rowOfMove)),
    ]);
    const moved = new Set(rows.map(({ id }) => id));
    return all.map(({ claim }) => moved.has(claim.id));
  }

  private async cancelBy(
    tx: Tx,
    statement: Statement,
    values: unknown[],
  ): Promise<PlaybookRunSummary[]> {
    return (await this.statements.rowsIn<RunRow>(tx, statement, values)).map(runOf);
  }
}

function rowOfMove({ claim, move }: ClaimedMove) {
  const { settled, begun, then, at } = move;
  return {
    id: claim.id,
    fence: claim.fence,
    wakes: claim.wakes,
    status: then.kind === 'hold' ? 'running' : then.status,
    steps_completed: move.stepsCompleted,
    steps_failed: move.stepsFailed,
    error: then.kind === 'end' ? then.error : undefined,
    ended_at: then.kind === 'end' ? at : undefined,
    lease_ms: then.kind === 'hold' ? then.leaseMs : undefined,
    at,
    steps: [...settled, ...(begun ? [{ ...begun, error: undefined }] : [])].map((step) => ({
      position: step.position,
      name: step.name,
      status: step.status,
      action_id: step.actionId,
      error: step.error,
    })),
  };
}
