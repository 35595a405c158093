// SQL: a temporary table, and an update that sets many columns from one row.
import type { Tx } from '../../platform/database/transactions.js';
import { columnsOf } from '../../platform/database/columns.js';
import { ActionEntity } from '../action.js';

/** Columns that a request sets and nothing changes afterwards. */
const REQUESTED = [
  'id',
  'incident_id',
  'action_type',
  'parameters',
  'requested_by',
  'requested_at',
  'playbook_run_id',
  'on_behalf_of',
  'authors',
  'rollback_of',
  'reason',
] as const;

/** Columns that change after the request. */
const PROGRESS = columnsOf(ActionEntity, REQUESTED).join(', ');

/** Actions that changed between the backup and the restore. */
export interface ActionsAcrossRestore {
  /** Open in the backup and changed since. They keep the state from before the restore. */
  readonly continued: readonly string[];
  /** Missing in the backup, with a call to the vendor that had no answer yet. */
  readonly lost: readonly string[];
}

interface WithId {
  readonly id: string;
}

/** Saves the progress of each action. Call it before the content of the database is replaced, in the same transaction. */
export async function noteActionsBeforeRestore(tx: Tx): Promise<void> {
  const [table] = await tx.query<{ there: boolean }[]>(
    `select to_regclass('actions') is not null as there`,
  );
  if (!table?.there) return;
  await tx.query(
    `create temporary table actions_before_restore on commit drop as select id, ${PROGRESS} from actions`,
  );
}

/**
 * Call it after the content is replaced. A restore does not undo effects at vendors. An action that is open in the backup gets
 * its saved progress, so that it does not run twice and a current run still finds its claim.
 */
export async function carryActionsOverRestore(tx: Tx): Promise<ActionsAcrossRestore> {
  const [table] = await tx.query<{ there: boolean }[]>(
    `select to_regclass('pg_temp.actions_before_restore') is not null as there`,
  );
  if (!table?.there) return { continued: [], lost: [] };
  const changed = await tx.query<WithId[]>(
    `select a.id from actions a join pg_temp.actions_before_restore b on b.id = a.id
      where a.status in ('pending', 'pending_approval') and (a.status, a.fence, a.phase) is distinct from (b.status, b.fence, b.phase)
      order by a.id`,
  );
  await tx.query(
    `update actions set (${PROGRESS}) = (select ${PROGRESS} from pg_temp.actions_before_restore b where b.id = actions.id)
      where status in ('pending', 'pending_approval') and id in (select id from pg_temp.actions_before_restore)`,
  );
  const lost = await tx.query<WithId[]>(
    `select id from pg_temp.actions_before_restore b
      where status = 'pending' and sent and not exists (select from actions a where a.id = b.id) order by id`,
  );
  return { continued: changed.map(({ id }) => id), lost: lost.map(({ id }) => id) };
}
