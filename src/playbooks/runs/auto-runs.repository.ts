// SQL: the turns of automatic runs, and which runs there have been for an incident.
import { Injectable } from '@nestjs/common';
import type { Incident } from '../../incidents/incident.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { PlaybookVersion } from '../playbook.js';
import type { PlaybookRun } from './playbook-run.js';

/** Order of the verdicts. A worse verdict may need steps that the earlier run skipped. */
const badness = (of: string) =>
  `coalesce(array_position(array['inconclusive', 'suspicious', 'malicious'], ${of}), 0)`;

const WORSE: Statement = {
  name: 'playbook_runs_worse',
  text: `
    select n::integer - 1 as at
      from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[])
           with ordinality as wanted (incident_id, playbook_id, version, classification, n)
     where not exists (
       select from playbook_runs run
        where run.incident_id = wanted.incident_id and run.playbook_id = wanted.playbook_id
          and run.playbook_version = wanted.version and run.automatic and not run.void
          and ${badness('run.classification')} >= ${badness('wanted.classification')})
     order by n`,
};

/** Another transaction waits until this one ends, so that no two runs get the same turn. */
const LOCK_PLAYBOOKS: Statement = {
  name: 'playbook_runs_lock_playbooks',
  text: `select id from playbooks where id = any($1::uuid[]) order by id for no key update`,
};

/**
 * Gives turns to the new runs $3 and the waiting runs of the playbook $1: by the severity of the incident, then by age, at most
 * $2 within an hour. Each turn is an hour after the run that began $2 places earlier. A run that was cancelled before its turn
 * leaves it to another run. Locked runs are skipped, because a cancellation locks runs of several playbooks.
 */
const GIVE_TURNS: Statement = {
  name: 'playbook_runs_give_turns',
  text: `
    with begun as (
      select starts_at, row_number() over (order by starts_at desc) as n from (
        select starts_at from playbook_runs
         where playbook_id = $1 and starts_at <= $4 and (completed_at is null or completed_at >= starts_at)
         order by starts_at desc limit $2::integer) as latest),
    waiting as materialized (
      select run.id, incident.severity
        from playbook_runs run join incidents incident on incident.id = run.incident_id
       where run.id = any($3::uuid[] || array(
         select id from playbook_runs where playbook_id = $1 and starts_at > $4 and completed_at is null))
         for no key update of run skip locked),
    numbered as (select id, row_number() over (order by severity desc, id) - 1 as place from waiting),
    turn as (
      select id, greatest($4::timestamptz, starts_at + interval '1 hour') + place / $2 * interval '1 hour' as at
        from numbered left join begun on n = $2 - place % $2)
    update playbook_runs run set starts_at = turn.at from turn
     where run.id = turn.id and run.starts_at is distinct from turn.at
    returning run.id, run.starts_at`,
};

@Injectable()
export class AutoRunsRepository {
  constructor(private readonly statements: Statements) {}

  /** Drops the runs of versions that ran automatically for the same incident with an equal or worse verdict. */
  async worseThanBefore<
    R extends {
      readonly playbook: Pick<PlaybookVersion, 'id' | 'version'>;
      readonly incident: Pick<Incident, 'id' | 'verdict'>;
    },
  >(tx: Tx, wanted: readonly R[]): Promise<R[]> {
    const rows = await this.statements.rowsIn<{ at: number }>(tx, WORSE, [
      wanted.map(({ incident }) => incident.id),
      wanted.map(({ playbook }) => playbook.id),
      wanted.map(({ playbook }) => playbook.version),
      wanted.map(({ incident }) => incident.verdict?.classification),
    ]);
    return rows.map(({ at }) => wanted[at]!);
  }

  /** Locks the playbooks for `giveTurns`, in the order of their ids. */
  async lockPlaybooks(tx: Tx, ids: readonly string[]): Promise<void> {
    await this.statements.rowsIn(tx, LOCK_PLAYBOOKS, [ids]);
  }

  /** Returns the changed turns. */
  async giveTurns(
    tx: Tx,
    playbookId: string,
    limit: number,
    newRuns: readonly string[],
    earliest: Date,
  ): Promise<Pick<PlaybookRun, 'id' | 'starts_at'>[]> {
    return await this.statements.rowsIn(tx, GIVE_TURNS, [playbookId, limit, newRuns, earliest]);
  }
}
