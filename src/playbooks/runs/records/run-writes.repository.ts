// SQL: a run moves by one statement, which changes it and its steps on the condition of its claim.
import { Injectable } from '@nestjs/common';
import { type Statement, Statements } from '../../../platform/database/statements.js';
import type { Tx } from '../../../platform/database/transactions.js';
import type { SettledStep } from '../next-move.js';
import type { EndedStatus, OpenStatus, PlaybookRunSummary, RunProgress } from '../playbook-run.js';
import { IS_DUE, RUN_COLUMNS, runOf, type RunRow } from './run-rows.js';

/** Names one claim of a run, and what was known of it then. */
export type Claim = Pick<PlaybookRunSummary, 'id' | 'fence' | 'wakes'>;

/** The step that a run has begun with this move. */
export interface BegunStep {
  readonly position: number;
  readonly name: string;
  readonly actionId: string;
  readonly status: OpenStatus;
}

export interface RunMove extends RunProgress {
  readonly settled: readonly SettledStep[];
  readonly begun?: BegunStep;
  readonly at: Date;
  /** `hold`: the replica goes on with it. `rest`: it waits until somebody wakes it. */
  readonly then:
    | { readonly kind: 'hold'; readonly leaseMs: number }
    | { readonly kind: 'rest'; readonly status: OpenStatus }
    | { readonly kind: 'end'; readonly status: EndedStatus; readonly error?: string };
}

const OPEN = `completed_at is null`;
const COLUMNS = RUN_COLUMNS.map((column) => `playbook_runs.${column}`).join(', ');

const ANY_DUE: Statement = {
  name: 'playbook_runs_any_due',
  text: `select 1 from playbook_runs where ${IS_DUE} limit 1`,
};

const CLAIM: Statement = {
  name: 'playbook_runs_claim',
  text: `
    update playbook_runs
       set fence = fence + 1, attempts = attempts + 1, lease_until = now() + $2 * interval '1 millisecond'
     where id in (select id from playbook_runs where ${IS_DUE} order by due_at limit $1 for update skip locked)
    returning ${COLUMNS}`,
};

/** A run that rests is due again at once where there was a reason to wake it since it was claimed. */
const MOVE: Statement = {
  name: 'playbook_runs_move',
  text: `
    with moved as (
      update playbook_runs
         set status = $4, steps_completed = $5, steps_failed = $15, error = $6, completed_at = $7, attempts = 0,
             lease_until = now() + $8::integer * interval '1 millisecond',
             due_at = case when $7::timestamptz is not null then null
                           when $8::integer is not null or wakes <> $3 then coalesce(due_at, now()) end
       where id = $1 and fence = $2 and ${OPEN}
      returning id),
    noted as (
      insert into playbook_run_steps (run_id, position, name, status, action_id, error, started_at, completed_at)
      select moved.id, step.position, step.name, step.status, step.action_id, step.error, $9,
             case when step.status in ('running', 'waiting_approval') then null else $9::timestamptz end
        from moved, unnest($10::integer[], $11::text[], $12::text[], $13::uuid[], $14::text[])
                      as step (position, name, status, action_id, error)
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

/** Those whose open step had this action. One that a replica works on learns of it when it rests. */
const WAKE = `
    update playbook_runs set wakes = wakes + 1, due_at = coalesce(due_at, now())
     where ${OPEN} and id in (
       select step.run_id from playbook_run_steps step`;

const WAKE_FOR: Statement = {
  name: 'playbook_runs_wake_for',
  text: `${WAKE} where step.completed_at is null and step.action_id = any($1::uuid[]))`,
};

/** Those that nobody woke although their action has ended, such as after a restore, which brings no events back. */
const WAKE_LOST: Statement = {
  name: 'playbook_runs_wake_lost',
  text: `${WAKE} join actions action on action.id = step.action_id
       where step.completed_at is null and action.status in ('completed', 'failed', 'rejected'))
       and due_at is null`,
};

const CANCEL = (which: string) => `
    with cancelled as (
      update playbook_runs
         set status = 'cancelled', error = $2, completed_at = $3, due_at = null, lease_until = null
       where ${OPEN} and ${which}
      returning ${COLUMNS}),
    stopped as (
      update playbook_run_steps set status = 'cancelled', completed_at = $3
       where run_id in (select id from cancelled) and completed_at is null)
    select * from cancelled`;

const CANCEL_ONE: Statement = { name: 'playbook_runs_cancel', text: CANCEL('id = $1') };
const CANCEL_OF_INCIDENT: Statement = {
  name: 'playbook_runs_cancel_of_incident',
  text: CANCEL('incident_id = $1'),
};
/** `$1` has no meaning here: the three statements take the same parameters. */
const CANCEL_DUE: Statement = {
  name: 'playbook_runs_cancel_due',
  text: CANCEL(`due_at is not null and $1::uuid is null`),
};

/** Every change of a run after its insertion. Each is conditional on what it leaves. */
@Injectable()
export class RunWritesRepository {
  constructor(private readonly statements: Statements) {}

  async isAnyDue(): Promise<boolean> {
    return (await this.statements.rows(ANY_DUE)).length > 0;
  }

  /** Claims those that have been due for the longest time. What another replica is just claiming is left to it. */
  async claimDue(limit: number, leaseMs: number): Promise<PlaybookRunSummary[]> {
    return (await this.statements.rows<RunRow>(CLAIM, [limit, leaseMs])).map(runOf);
  }

  /** False when the claim has lapsed and another replica has the run, or it has ended. */
  async move(tx: Tx, claim: Claim, move: RunMove): Promise<boolean> {
    const { settled, begun, then, at } = move;
    const steps = [...settled, ...(begun ? [{ ...begun, error: undefined }] : [])];
    const rows = await this.statements.rowsIn(tx, MOVE, [
      claim.id,
      claim.fence,
      claim.wakes,
      then.kind === 'hold' ? 'running' : then.status,
      move.stepsCompleted,
      then.kind === 'end' ? then.error : null,
      then.kind === 'end' ? at : null,
      then.kind === 'hold' ? then.leaseMs : null,
      at,
      steps.map(({ position }) => position),
      steps.map(({ name }) => name),
      steps.map(({ status }) => status),
      steps.map(({ actionId }) => actionId ?? null),
      steps.map(({ error }) => error ?? null),
      move.stepsFailed,
    ]);
    return rows.length > 0;
  }

  /** Gives the claim back without counting the attempt: the run is due for any replica. */
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

  /** Undefined when it had ended. */
  async cancel(tx: Tx, id: string, why: string, at: Date): Promise<PlaybookRunSummary | undefined> {
    return (await this.cancelBy(tx, CANCEL_ONE, [id, why, at]))[0];
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

  private async cancelBy(
    tx: Tx,
    statement: Statement,
    values: unknown[],
  ): Promise<PlaybookRunSummary[]> {
    return (await this.statements.rowsIn<RunRow>(tx, statement, values)).map(runOf);
  }
}
