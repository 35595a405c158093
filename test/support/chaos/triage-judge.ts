import type { Pool } from 'pg';
import type { Told } from './triage-storm.js';

/** How many rows there are that must not be, whatever was killed; each by what is wrong with them. */
const WRONG = `
  with run as (select * from triage_runs),
       incident as (select id, verdict from incidents where source = 'storm'),
       told as (
         select incident_id as id, count(*) as n from incident_timeline where event = 'triaged' group by 1),
       audit as (
         select subject_id::uuid as id, action, count(*) as n from audit_log
          where subject_type = 'triage' group by 1, 2)
  select (select count(*)::int from run where status not in ('completed', 'failed')) as runs_without_end,
         (select count(*)::int from (
            select from run where status = 'completed' group by incident_id having count(*) > 1) as twins) as incidents_judged_twice,
         (select count(*)::int from run as one join run as other using (incident_id)
           where one.id < other.id and coalesce(one.completed_at, 'infinity') > other.created_at + interval '2 ms') as runs_at_once,
         (select count(*)::int from run left join told on told.id = incident_id
           where status = 'completed' and n is distinct from 1) as verdicts_not_told_once,
         (select count(*)::int from incident where (verdict is not null)
             <> (id in (select incident_id from run where status = 'completed'))) as verdicts_without_run,
         (select count(*)::int from run left join audit on audit.id = run.id and action = 'triage.' || status
           where n is distinct from 1) as ends_not_recorded_once,
         (select count(*)::int from audit group by action having action = 'triage.requested')
             - (select count(*)::int from run) as requests_without_run`;

export interface RunsJudgement {
  /** Runs by how they ended, such as `completed` and `failed: refused`. */
  readonly endings: Readonly<Record<string, number>>;
  /** How often a run lost its replica. */
  readonly lapses: number;
  /** From creation to end, of the runs that lost their replica. */
  readonly interruptedMs: readonly number[];
  readonly wrong: Readonly<Record<string, number>>;
  /** What somebody was told, and is not so. */
  readonly broken: readonly Told[];
}

/** Holds the runs against what must be so of them, and against what was answered. */
export async function judgeRuns(db: Pool, told: readonly Told[]): Promise<RunsJudgement> {
  const { rows } = await db.query<{
    id: string;
    ending: string;
    lapses: number;
    ms: number;
    classification: string | null;
  }>(
    `select id, status || coalesce(': ' || (error ->> 'reason'), '') as ending, lapses,
            extract(epoch from completed_at - created_at)::float8 * 1000 as ms,
            verdict ->> 'classification' as classification
       from triage_runs`,
  );
  const endings: Record<string, number> = {};
  for (const { ending } of rows) endings[ending] = (endings[ending] ?? 0) + 1;
  const given = new Map(rows.map(({ id, classification }) => [id, classification]));
  const wrong = await db.query<Record<string, number>>(WRONG);
  return {
    endings,
    lapses: rows.reduce((sum, { lapses }) => sum + lapses, 0),
    interruptedMs: rows.filter(({ lapses }) => lapses > 0).map(({ ms }) => ms),
    wrong: wrong.rows[0]!,
    broken: told.filter(({ triageId, classification }) => given.get(triageId) !== classification),
  };
}
