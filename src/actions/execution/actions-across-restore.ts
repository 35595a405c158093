import type { Tx } from '../../platform/database/transactions.js';

/** Everything that changes after an action was requested. */
const PROGRESS = [
  'status, approved_by, approved_at, approval_comment, rejected_by, rejected_at, rejection_reason',
  'executed_by, executed_at, result, phase, sent, fence, lease_until, connector_id, handle, accepted_at',
].join(', ');

/** What became of actions since a backup was made. */
export interface ActionsAcrossRestore {
  /** The backup has them open: they go on, or have ended, as in the database that it was restored over. */
  readonly continued: readonly string[];
  /** The backup does not have them: their vendors had been called and had not answered. */
  readonly lost: readonly string[];
}

interface Named {
  readonly id: string;
}

/** To be called before the content goes, in the same transaction. */
export async function noteActionsBeforeRestore(tx: Tx): Promise<void> {
  const [table] = await tx.query<{ there: boolean }[]>(
    `select to_regclass('actions') is not null as there`,
  );
  if (!table?.there) return;
  await tx.query(
    `create temporary table actions_of_before on commit drop as select id, ${PROGRESS} from actions`,
  );
}

/**
 * To be called when other content has come. No restore undoes what a vendor has done: an action that the backup has open
 * is where the present database had it, so that it does not run twice, and a run that is under way ends in its own row,
 * under its own fence.
 */
export async function carryActionsOverRestore(tx: Tx): Promise<ActionsAcrossRestore> {
  const [table] = await tx.query<{ there: boolean }[]>(
    `select to_regclass('pg_temp.actions_of_before') is not null as there`,
  );
  if (!table?.there) return { continued: [], lost: [] };
  const changed = await tx.query<Named[]>(
    `select a.id from actions a join pg_temp.actions_of_before b on b.id = a.id
      where a.status in ('pending', 'pending_approval') and (a.status, a.fence, a.phase) is distinct from (b.status, b.fence, b.phase)
      order by a.id`,
  );
  await tx.query(
    `update actions set (${PROGRESS}) = (select ${PROGRESS} from pg_temp.actions_of_before b where b.id = actions.id)
      where status in ('pending', 'pending_approval') and id in (select id from pg_temp.actions_of_before)`,
  );
  const lost = await tx.query<Named[]>(
    `select id from pg_temp.actions_of_before b
      where status = 'pending' and sent and not exists (select from actions a where a.id = b.id) order by id`,
  );
  return { continued: changed.map(({ id }) => id), lost: lost.map(({ id }) => id) };
}
