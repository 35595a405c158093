// SQL: a temporary table that outlives the replaced content.
import type { Tx } from '../../platform/database/transactions.js';
import { SYSTEM } from '../action.js';
import { failed } from './execution-rules.js';

/** Actions that may have had effects at vendors after the backup. */
export interface ActionsAcrossRestore {
  /** Actions in progress in the backup, or approved since the backup. They fail with `outcome_unknown`. */
  readonly failed: readonly string[];
  /** Actions that the backup does not contain, with an unanswered call to the vendor. */
  readonly lost: readonly string[];
}

/** Connector that a rollback would use. The lane of an expired claim names no connector. */
const CALLED = `coalesce(work.state ->> 'sent_to', nullif(split_part(work.lane, '.', 2), ''))`;

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

/** Must run before the content of the database is replaced, in the same transaction. */
export async function noteActionsBeforeRestore(tx: Tx): Promise<void> {
  await tx.query(
    `create temporary table actions_before_restore on commit drop as
     select actions.id, status, coalesce(connector_id, ${CALLED}) as connector_id, work.state ->> 'sent_to' is not null as sent
       from actions left join work on work.kind = 'action' and work.ref = actions.id`,
  );
}

/** Must run after the content is replaced. A restore does not undo effects at vendors, so no action is repeated. */
export async function carryActionsOverRestore(tx: Tx): Promise<ActionsAcrossRestore> {
  const result = failed(
    'outcome_unknown',
    'A backup was restored while the action was in progress: check at the vendor whether it was done.',
  );
  const [ended] = await tx.query<[{ id: string }[], number]>(
    `update actions set status = 'failed', result = $1, executed_at = now(), executed_by = $2, connector_id = coalesce(
              (select ${CALLED} from work where kind = 'action' and ref = actions.id),
              (select connector_id from actions_before_restore b where b.id = actions.id))
      where status = 'pending'
         or status = 'pending_approval'
            and id in (select id from actions_before_restore where status not in ('pending_approval', 'rejected'))
     returning id`,
    [result, SYSTEM],
  );
  await tx.query(`delete from work where kind = 'action'`);
  const lost = await tx.query<{ id: string }[]>(
    `select id from actions_before_restore b
      where status = 'pending' and sent and not exists (select from actions a where a.id = b.id) order by id`,
  );
  return { failed: idsOf(ended).sort(), lost: idsOf(lost) };
}
