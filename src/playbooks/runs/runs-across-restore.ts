// SQL: a temporary table, and one statement that ends all open runs.
import { SYSTEM } from '../../actions/action.js';
import type { AuditLog } from '../../audit/audit-log.js';
import { INCIDENT_EVENTS } from '../../incidents/change-records.js';
import type { IncidentTimeline } from '../../incidents/timeline/incident-timeline.js';
import type { Tx } from '../../platform/database/transactions.js';
import { kindOfHandler } from '../../platform/work/domain-events.js';
import { AUTO_RUNS } from './auto-runs.js';
import { type PlaybookRun, RUN_COLUMNS } from './playbook-run.js';
import { recordsOfEnd } from './run-records.js';

const WHY =
  'The database was restored from a backup. The next steps may have been taken after the backup.';
const LONGEST_ERROR = 1_000;
const COLUMNS = RUN_COLUMNS.map((column) => `run.${column}`).join(', ');

/** Saves the automatic runs. Call it before the content of the database is replaced, in the same transaction. */
export async function noteRunsBeforeRestore(tx: Tx): Promise<void> {
  await tx.query(
    `create temporary table runs_before_restore on commit drop as
       select id, incident_id from playbook_runs where automatic`,
  );
}

/**
 * Call it after the content is replaced and actions have their state from before the restore. Cancels all open runs, because
 * they may have continued after the backup. Steps whose action has ended get its outcome.
 */
export async function cancelRunsOverRestore(tx: Tx): Promise<PlaybookRun[]> {
  return await tx.query<PlaybookRun[]>(
    `with stopped as (
       update playbook_run_steps step
          set completed_at = now(),
              status = case when action.status = 'completed' then 'completed'
                            when action.status in ('failed', 'rejected') then 'failed'
                            else 'cancelled' end,
              error = case action.status
                        when 'rejected' then left('Rejected by ' || action.rejected_by || ': ' || action.rejection_reason, $2)
                        when 'failed' then left(action.result ->> 'message', $2) end
         from actions action
        where action.id = step.action_id and step.completed_at is null
       returning step.run_id, step.status),
     cancelled as (
       update playbook_runs run
          set status = 'cancelled', error = $1, completed_at = now(),
              steps_completed = steps_completed
                + (select count(*) from stopped where run_id = run.id and stopped.status = 'completed'),
              steps_failed = steps_failed
                + (select count(*) from stopped where run_id = run.id and stopped.status = 'failed')
        where completed_at is null
       returning ${COLUMNS})
     select * from cancelled order by id`,
    [WHY, LONGEST_ERROR],
  );
}

/**
 * Call it after the content is replaced. Removes waiting triages that had started an automatic run before the restore: they would
 * start it again. Returns their number.
 */
export async function dropTriagesOfRunsBefore(tx: Tx): Promise<number> {
  const [, dropped] = await tx.query<[unknown, number]>(
    `delete from work
      where kind = $1 and data ->> 'type' = $2 and data #>> '{subject,id}' in (
        select incident_id::text from pg_temp.runs_before_restore before
         where not exists (select from playbook_runs run where run.id = before.id))`,
    [kindOfHandler(AUTO_RUNS), INCIDENT_EVENTS.triaged],
  );
  return dropped;
}

/** Records the cancellations like other cancellations. Without the keys of the audit trail, only in the timeline. */
export async function recordCancelledRuns(
  tx: Tx,
  runs: readonly PlaybookRun[],
  { timeline, audit }: { readonly timeline: IncidentTimeline; readonly audit?: AuditLog },
): Promise<void> {
  const records = runs.map((run) => recordsOfEnd(run, { ...run, status: 'cancelled' }, SYSTEM));
  await timeline.add(tx, ...records.flatMap(({ timeline: entry }) => (entry ? [entry] : [])));
  await audit?.record(tx, ...records.map(({ audit: entry }) => entry));
}
