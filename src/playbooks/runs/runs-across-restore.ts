// SQL: a temporary table, and updates that compare with it.
import { SYSTEM } from '../../actions/action.js';
import type { AuditLog } from '../../audit/audit-log.js';
import { INCIDENT_EVENTS } from '../../incidents/change-records.js';
import type { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import type { Tx } from '../../platform/database/transactions.js';
import { kindOfHandler } from '../../platform/work/domain-events.js';
import { AUTO_RUNS } from './auto-runs.js';
import type { PlaybookRunSummary } from './playbook-run.js';
import { RUN_COLUMNS, runOf, type RunRow } from './records/run-rows.js';
import { newsOfEnd } from './records/run-words.js';

const WHY =
  'The database was restored from a backup that is older than its last step: what follows would be done twice.';
const LONGEST_ERROR = 1_000;
const COLUMNS = RUN_COLUMNS.map((column) => `run.${column}`).join(', ');

/** Keeps how far each run is. To be called before the content of the database is replaced, in the same transaction. */
export async function noteRunsBeforeRestore(tx: Tx): Promise<void> {
  const [table] = await tx.query<{ there: boolean }[]>(
    `select to_regclass('playbook_runs') is not null as there`,
  );
  if (!table?.there) return;
  await tx.query(
    `create temporary table runs_before_restore on commit drop as
       select id, incident_id, automatic, completed_at is not null as ended,
              (select count(*) from playbook_run_steps where run_id = playbook_runs.id) as steps
         from playbook_runs`,
  );
}

/**
 * To be called when the content has been replaced, and actions are where they were before the restore. A run that is open in
 * the backup and has gone on since would take its later steps again: it is cancelled. A step of it whose action has ended is
 * as its action is.
 */
export async function cancelRunsOverRestore(tx: Tx): Promise<PlaybookRunSummary[]> {
  if (!(await isNoted(tx))) return [];
  const rows = await tx.query<RunRow[]>(
    `with gone_on as (
       select run.id from playbook_runs run join pg_temp.runs_before_restore before on before.id = run.id
        where run.completed_at is null
          and (before.ended or before.steps > (select count(*) from playbook_run_steps where run_id = run.id))),
     stopped as (
       update playbook_run_steps step
          set completed_at = now(),
              status = case when action.status = 'completed' then 'completed'
                            when action.status in ('failed', 'rejected') then 'failed'
                            else 'cancelled' end,
              error = case action.status
                        when 'rejected' then left('Rejected by ' || action.rejected_by || ': ' || action.rejection_reason, $2)
                        when 'failed' then left(action.result ->> 'message', $2) end
         from actions action
        where action.id = step.action_id and step.completed_at is null and step.run_id in (select id from gone_on)
       returning step.run_id, step.status),
     cancelled as (
       update playbook_runs run
          set status = 'cancelled', error = $1, completed_at = now(), due_at = null, lease_until = null,
              steps_completed = steps_completed
                + (select count(*) from stopped where run_id = run.id and stopped.status = 'completed'),
              steps_failed = steps_failed
                + (select count(*) from stopped where run_id = run.id and stopped.status = 'failed')
        where id in (select id from gone_on)
       returning ${COLUMNS})
     select * from cancelled order by id`,
    [WHY, LONGEST_ERROR],
  );
  return rows.map(runOf);
}

/**
 * To be called after the restore. Where a playbook had started by itself since the
 * backup, its run is gone, and the triage that began it may be among them: another run would do the same again. Answers how
 * many triages start nothing any more.
 */
export async function dropTriagesOfRunsBefore(tx: Tx): Promise<number> {
  if (!(await isNoted(tx))) return 0;
  const [, dropped] = await tx.query<[unknown, number]>(
    `delete from work
      where kind = $1 and data ->> 'type' = $2 and data #>> '{subject,id}' in (
        select incident_id::text from pg_temp.runs_before_restore before
         where automatic and not exists (select from playbook_runs run where run.id = before.id))`,
    [kindOfHandler(AUTO_RUNS), INCIDENT_EVENTS.triaged],
  );
  return dropped;
}

async function isNoted(tx: Tx): Promise<boolean> {
  const [table] = await tx.query<{ there: boolean }[]>(
    `select to_regclass('pg_temp.runs_before_restore') is not null as there`,
  );
  return table?.there === true;
}

/** Tells of it as of every cancellation; without the keys of the audit trail, the timeline alone. */
export async function tellOfCancelledRuns(
  tx: Tx,
  runs: readonly PlaybookRunSummary[],
  { timeline, audit }: { readonly timeline: IncidentTimeline; readonly audit?: AuditLog },
): Promise<void> {
  const news = runs.map((run) => newsOfEnd(run, { ...run, status: 'cancelled' }, SYSTEM));
  await timeline.add(tx, ...news.flatMap(({ timeline: entry }) => (entry ? [entry] : [])));
  await audit?.record(tx, ...news.map(({ audit: entry }) => entry));
}
