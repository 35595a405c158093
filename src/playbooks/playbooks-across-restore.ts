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

const WHY =
  'The database was restored from a backup. The next steps may have been taken after the backup.';

/** Call it before the content is replaced, in the same transaction. */
export async function notePlaybooksBeforeRestore(tx: Tx): Promise<void> {
  await tx.query(
    'create temporary table playbooks_before_restore on commit drop as select id, version from playbooks',
  );
}

/**
 * Call it after the content is replaced. Processes cache versions by their numbers, so a restored playbook gets a number that was
 * never used. The author of the version stays, because four eyes need it.
 */
export async function renumberPlaybooksOverRestore(tx: Tx): Promise<void> {
  await tx.query(
    `with renumbered as (
       update playbooks set version = greatest(playbooks.version, before.version) + 1, updated_at = now()
         from pg_temp.playbooks_before_restore before
        where before.id = playbooks.id and before.version <> playbooks.version
       returning playbooks.*)
     insert into playbook_versions (playbook_id, version, name, definition, changed_by, changed_at)
     select id, version, name, definition, updated_by, updated_at from renumbered`,
  );
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
