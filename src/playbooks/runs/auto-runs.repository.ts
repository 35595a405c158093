// SQL: the turns of automatic runs, and which runs there have been for an incident.
import { Injectable } from '@nestjs/common';
import type { Incident } from '../../incidents/incident.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { PlaybookVersion } from '../playbook.js';
import type { PlaybookRun } from './playbook-run.js';

/** An automatic run that a triage may start. */
interface AutomaticRun {
  readonly playbook: Pick<PlaybookVersion, 'id' | 'version'>;
  readonly incident: Pick<Incident, 'id'>;
}

const AUTOMATIC: Statement = {
  name: 'playbook_runs_automatic',
  text: `
    select which.n::integer, run.classification
      from unnest($1::uuid[], $2::uuid[], $3::integer[]) with ordinality as which (incident_id, playbook_id, version, n)
      join playbook_runs run on run.incident_id = which.incident_id and run.playbook_id = which.playbook_id
       and run.playbook_version = which.version and run.automatic and not run.void`,
};

/** Another transaction waits until this one ends, so that no two runs get the same turn. */
const LOCK_PLAYBOOKS: Statement = {
  name: 'playbook_runs_lock_playbooks',
  text: `select id from playbooks where id = any($1::uuid[]) order by id for no key update`,
};

/** The starts that determine the next $3 turns, latest first. A run that was cancelled before its turn leaves its turn to another run. */
const STARTS: Statement = {
  name: 'playbook_runs_starts',
  text: `
    select starts_at from playbook_runs
     where playbook_id = $1 and starts_at is not null and (completed_at is null or completed_at >= starts_at)
     order by starts_at desc offset greatest(0, $2::integer - $3::integer) limit least($2::integer, $3::integer)`,
};

const WAITS = (run: string) => `${run}.starts_at > now() and ${run}.completed_at is null`;

/**
 * Gives the turns of the waiting runs of $1 to the runs in a new order: by the severity of the incident, then by age. Nothing is read
 * where the new runs $2 are the least severe, as in a flood of similar incidents. Locked runs are skipped, because a cancellation
 * locks runs of several playbooks.
 */
const ORDER_TURNS: Statement = {
  name: 'playbook_runs_order_turns',
  text: `
    with waiting as materialized (
      select run.id, run.starts_at, incident.severity
        from playbook_runs run join incidents incident on incident.id = run.incident_id
       where run.playbook_id = $1 and ${WAITS('run')}
         and ($2::uuid[] is null or (
           select max(own.severity) from incidents own join playbook_runs new on new.incident_id = own.id
            where new.id = any($2)) > (
           select last_incident.severity
             from playbook_runs last join incidents last_incident on last_incident.id = last.incident_id
            where last.playbook_id = $1 and ${WAITS('last')} and last.id <> all($2)
            order by last.starts_at desc limit 1))
         for no key update of run skip locked),
    numbered as (
      select id, starts_at, row_number() over (order by severity desc, id) as place,
             row_number() over (order by starts_at, id) as turn
        from waiting)
    update playbook_runs run set starts_at = given.starts_at
      from numbered as one join numbered as given on given.turn = one.place
     where run.id = one.id and run.starts_at <> given.starts_at
    returning run.id, run.starts_at`,
};

const WAITING_PLAYBOOKS: Statement = {
  name: 'playbook_runs_waiting_playbooks',
  text: `
    select distinct playbook_id as id from playbook_runs run where run.incident_id = any($1::uuid[]) and ${WAITS('run')}`,
};

export type Turn = Pick<PlaybookRun, 'id'> & { readonly starts_at: Date };

const HOUR_MS = 3_600_000;

@Injectable()
export class AutoRunsRepository {
  constructor(private readonly statements: Statements) {}

  /** Returns, for each wanted run, the classifications with which its version has run automatically for its incident. */
  async automaticallyRunFor(tx: Tx, wanted: readonly AutomaticRun[]): Promise<string[][]> {
    type Row = { readonly n: number; readonly classification: string };
    const rows = await this.statements.rowsIn<Row>(tx, AUTOMATIC, [
      wanted.map(({ incident }) => incident.id),
      wanted.map(({ playbook }) => playbook.id),
      wanted.map(({ playbook }) => playbook.version),
    ]);
    const byRun = Map.groupBy(rows, ({ n }) => n - 1);
    return wanted.map((_, at) => (byRun.get(at) ?? []).map((row) => row.classification));
  }

  /** Locks the playbooks for `turns` and `orderTurns`, in the order of their ids. */
  async lockPlaybooks(tx: Tx, ids: readonly string[]): Promise<void> {
    await this.statements.rowsIn(tx, LOCK_PLAYBOOKS, [ids]);
  }

  /** Returns when the next `count` automatic runs of the playbook may begin: at most `limit` within an hour. */
  async turns(
    tx: Tx,
    playbookId: string,
    limit: number,
    count: number,
    earliest: Date,
  ): Promise<Date[]> {
    const values = [playbookId, limit, count];
    const rows = await this.statements.rowsIn<{ starts_at: Date }>(tx, STARTS, values);
    const known = Math.min(limit, count);
    return Array.from({ length: count }, (_, n) => {
      // The start that is `limit` runs earlier. In each further hour begin `limit` runs.
      const before = rows[known - 1 - (n % limit)]?.starts_at.getTime() ?? -Infinity;
      const turn = Math.max(before + HOUR_MS, earliest.getTime());
      return new Date(turn + Math.floor(n / limit) * HOUR_MS);
    });
  }

  /**
   * Lets waiting runs of more severe incidents begin first. Returns the changed turns.
   *
   * @param newRuns the runs that were added, if the severity of no other incident changed
   */
  async orderTurns(tx: Tx, playbookId: string, newRuns?: readonly string[]): Promise<Turn[]> {
    return await this.statements.rowsIn<Turn>(tx, ORDER_TURNS, [playbookId, newRuns ?? null]);
  }

  /** Returns the playbooks with runs of these incidents that wait for their turn. */
  async playbooksWaitingFor(tx: Tx, incidentIds: readonly string[]): Promise<string[]> {
    const rows = await this.statements.rowsIn<{ id: string }>(tx, WAITING_PLAYBOOKS, [incidentIds]);
    return rows.map(({ id }) => id);
  }
}
