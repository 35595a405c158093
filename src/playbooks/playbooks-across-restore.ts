// SQL: a temporary table, and statements that compare with it.
import { SYSTEM } from '../actions/action.js';
import type { AuditLog } from '../audit/audit-log.js';
import type { IncidentTimeline } from '../incidents/timeline/incident-timeline.js';
import { presentTime } from '../platform/clock.js';
import { Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { kindOfHandler } from '../platform/work/domain-events.js';
import { AUTO_RUNS } from './runs/auto-runs.js';
import type { PlaybookRun } from './runs/playbook-run.js';
import { recordsOfEnd } from './runs/run-records.js';
import { RunsRepository } from './runs/runs.repository.js';

/** Playbooks that the backup would have let run again, and that a restore leaves as they were before the restore. */
export interface PlaybooksAcrossRestore {
  readonly deleted: number;
  /** `enabled`, `auto_run` or `trust_verdict` stays switched off. */
  readonly restricted: number;
}

const WHY =
  'The database was restored from a backup. The next steps may have been taken after the backup.';

/** Keeps what each playbook may do. Call it before the content is replaced, in the same transaction. */
export async function notePlaybooksBeforeRestore(tx: Tx): Promise<void> {
  await tx.query(
    `create temporary table playbooks_before_restore on commit drop as
       select id, version, definition, deleted_at from playbooks`,
  );
}

/**
 * Deletes again the playbooks that had been deleted before the restore, and switches off again what had been switched off.
 * Call it after the content is replaced. A playbook that had other versions before the restore gets a new version with a
 * number of its own, because a process remembers versions by their numbers. The version is by the author of the restored
 * version, who must not approve alone what the playbook does by itself.
 */
export async function carryPlaybooksOverRestore(tx: Tx): Promise<PlaybooksAcrossRestore> {
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
 * Call it after the content is replaced. Cancels all open runs, because they may have continued after the backup. For the same
 * reason no waiting triage starts playbooks automatically.
 */
export async function cancelRunsOverRestore(tx: Tx): Promise<PlaybookRun[]> {
  await tx.query('delete from work where kind = $1 and died_at is null', [
    kindOfHandler(AUTO_RUNS),
  ]);
  const runs = new RunsRepository(new Statements(tx.dataSource));
  return await runs.cancel(tx, 'all', null, WHY, new Date(presentTime()));
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
