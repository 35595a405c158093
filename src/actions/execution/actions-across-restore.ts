// SQL: a temporary table, and an update that sets many columns from one row.
import type { Tx } from '../../platform/database/transactions.js';
import { type ActionEntity, TABLE_COLUMNS } from '../action.entity.js';

/** What a request says, and what nothing changes afterwards. */
const REQUESTED: readonly string[] = [
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
] satisfies (keyof ActionEntity)[];

/** Everything that changes after an action was requested. */
const PROGRESS = TABLE_COLUMNS.filter((column) => !REQUESTED.includes(column)).join(', ');

/** What became of actions between the backup and the restore. */
export interface ActionsAcrossRestore {
  /** They were open in the backup, and have gone on since: they are where the database had them before the restore. */
  readonly continued: readonly string[];
  /** They are not in the backup, and their vendors had been called and had not answered. */
  readonly lost: readonly string[];
}

interface WithId {
  readonly id: string;
}

/** Keeps how far each action is. To be called before the content of the database is replaced, in the same transaction. */
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
 * To be called when the content has been replaced. No restore undoes what a vendor has done: an action that is open in the
 * backup is put where it was before the restore, so that it does not run twice, and so that a run that is under way still
 * finds its own claim.
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
