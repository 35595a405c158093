// SQL: a temporary table, and updates that compare with it.
import type { Tx } from '../../platform/database/transactions.js';

interface WithId {
  readonly id: string;
}

const WHY =
  'The database was restored from a backup that is older than its last step: what follows would be done twice.';

/** Keeps how far each run is. To be called before the content of the database is replaced, in the same transaction. */
export async function noteRunsBeforeRestore(tx: Tx): Promise<void> {
  const [table] = await tx.query<{ there: boolean }[]>(
    `select to_regclass('playbook_runs') is not null as there`,
  );
  if (!table?.there) return;
  await tx.query(
    `create temporary table runs_before_restore on commit drop as
       select id, completed_at is not null as ended,
              (select count(*) from playbook_run_steps where run_id = playbook_runs.id) as steps
         from playbook_runs`,
  );
}

/**
 * To be called when the content has been replaced. A run that is open in the backup and has gone on since would take its
 * later steps again: it is cancelled. Answers the ids of those.
 */
export async function cancelRunsOverRestore(tx: Tx): Promise<string[]> {
  const [table] = await tx.query<{ there: boolean }[]>(
    `select to_regclass('pg_temp.runs_before_restore') is not null as there`,
  );
  if (!table?.there) return [];
  const rows = await tx.query<WithId[]>(
    `with cancelled as (
       update playbook_runs run
          set status = 'cancelled', error = $1, completed_at = now(), due_at = null, lease_until = null
         from pg_temp.runs_before_restore before
        where before.id = run.id and run.completed_at is null
          and (before.ended or before.steps > (select count(*) from playbook_run_steps where run_id = run.id))
       returning run.id),
     stopped as (
       update playbook_run_steps set status = 'cancelled', completed_at = now()
        where run_id in (select id from cancelled) and completed_at is null)
     select id from cancelled order by id`,
    [WHY],
  );
  return rows.map(({ id }) => id);
}
