// SQL: temporary tables, and statements that compare with them.
import { SYSTEM } from '../actions/action.js';
import type { AuditLog } from '../audit/audit-log.js';
import { INCIDENT_EVENTS } from '../incidents/change-records.js';
import type { IncidentTimeline } from '../incidents/timeline/incident-timeline.js';
import type { Tx } from '../platform/database/transactions.js';
import { kindOfHandler } from '../platform/work/domain-events.js';
import { AUTO_RUNS } from './runs/auto-runs.js';
import { type PlaybookRun, RUN_COLUMNS } from './runs/playbook-run.js';
import { recordsOfEnd } from './runs/run-records.js';

/** Playbooks that the backup would have let run again, and that a restore leaves as they were before the restore. */
export interface PlaybooksAcrossRestore {
  readonly deleted: number;
  /** `enabled`, `auto_run` or `trust_verdict` stays switched off. */
  readonly restricted: number;
}

const WHY =
  'The database was restored from a backup. The next steps may have been taken after the backup.';
const LONGEST_ERROR = 1_000;
const COLUMNS = RUN_COLUMNS.map((column) => `run.${column}`).join(', ');

/** Keeps what each playbook may do. Call it before the content is replaced, in the same transaction. */
export async function notePlaybooksBeforeRestore(tx: Tx): Promise<void> {
  await note(tx, 'playbooks', 'select id, version, definition, deleted_at from playbooks');
}

/** Keeps the automatic runs. Call it before the content is replaced, in the same transaction. */
export async function noteRunsBeforeRestore(tx: Tx): Promise<void> {
  await note(tx, 'playbook_runs', 'select id, incident_id from playbook_runs where automatic');
}

async function note(tx: Tx, table: string, rows: string): Promise<void> {
  if (!(await exists(tx, table))) return;
  await tx.query(`create temporary table ${table}_before_restore on commit drop as ${rows}`);
}

async function exists(tx: Tx, table: string): Promise<boolean> {
  const [found] = await tx.query<{ there: boolean }[]>(
    'select to_regclass($1) is not null as there',
    [table],
  );
  return found!.there;
}

/**
 * Deletes again the playbooks that had been deleted before the restore, and switches off again what had been switched off.
 * Call it after the content is replaced. A playbook that had other versions before the restore gets a new version with a
 * number of its own, because a process remembers versions by their numbers. The version is by the author of the restored
 * version, who must not approve alone what the playbook does by itself.
 */
export async function carryPlaybooksOverRestore(tx: Tx): Promise<PlaybooksAcrossRestore> {
  if (!(await exists(tx, 'pg_temp.playbooks_before_restore'))) return { deleted: 0, restricted: 0 };
  const [, deleted] = await tx.query<[unknown, number]>(
    `update playbooks set deleted_at = before.deleted_at
       from pg_temp.playbooks_before_restore before
      where before.id = playbooks.id and before.deleted_at is not null and playbooks.deleted_at is null`,
  );
  const [{ restricted } = { restricted: 0 }] = await tx.query<{ restricted: number }[]>(
    `with lesser as (
       select playbook.id, greatest(playbook.version, before.version) + 1 as version, fields.definition, fields.restricted
         from playbooks playbook join pg_temp.playbooks_before_restore before using (id)
        cross join lateral (
          select json_object_agg(key, case when is_off then 'false' else value end) as definition,
                 bool_or(is_off and value::text = 'true') as restricted
            from (select key, value, key in ('enabled', 'auto_run', 'trust_verdict')
                         and before.definition ->> key = 'false' as is_off
                    from json_each(playbook.definition)) as field) as fields
        where playbook.deleted_at is null
          and (before.version <> playbook.version or before.definition::text <> playbook.definition::text)),
     changed as (
       update playbooks
          set version = lesser.version, definition = lesser.definition, updated_at = now(),
              enabled = lesser.definition ->> 'enabled' = 'true', auto_run = lesser.definition ->> 'auto_run' = 'true'
         from lesser where lesser.id = playbooks.id
       returning playbooks.*),
     kept as (
       insert into playbook_versions (playbook_id, version, name, definition, changed_by, changed_at)
       select id, version, name, definition, updated_by, updated_at from changed)
     select count(*) filter (where restricted)::integer as restricted from lesser`,
  );
  return { deleted, restricted };
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
  if (!(await exists(tx, 'pg_temp.playbook_runs_before_restore'))) return 0;
  const [, dropped] = await tx.query<[unknown, number]>(
    `delete from work
      where kind = $1 and data ->> 'type' = $2 and data #>> '{subject,id}' in (
        select incident_id::text from pg_temp.playbook_runs_before_restore before
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
  await timeline.add(tx, ...records.flatMap(({ timeline: entries }) => entries));
  await audit?.record(tx, ...records.map(({ audit: entry }) => entry));
}
