// SQL: a temporary table, and updates that compare with it.
import type { Tx } from '../../platform/database/transactions.js';

/** What becomes known of an attempt, and what the end of it is. */
const PROGRESS = 'status, attempts, fence, last_error, ended_at';

/** What a restore does about notifications. */
export interface DeliveriesAcrossRestore {
  /** They are on their way in the backup, had not ended before the restore as far as is known, and are sent. */
  readonly sent: number;
  readonly channelsDisabled: number;
}

/** Keeps which ones have ended. To be called before the content of the database is replaced, in the same transaction. */
export async function noteDeliveriesBeforeRestore(tx: Tx): Promise<void> {
  if (!(await isThere(tx, 'notification_deliveries'))) return;
  await tx.query(
    `create temporary table deliveries_before_restore on commit drop as
       select id, ${PROGRESS} from notification_deliveries where status <> 'pending'`,
  );
}

/**
 * To be called when the content has been replaced. What had ended since the backup stays ended: people would read it twice.
 * What nobody knows of is sent, at least once being the rule.
 *
 * @param quiet disables the channels: in a drill elsewhere nobody is to hear of what happened long ago
 */
export async function carryDeliveriesOverRestore(
  tx: Tx,
  quiet: boolean,
): Promise<DeliveriesAcrossRestore> {
  if (await isThere(tx, 'pg_temp.deliveries_before_restore')) {
    await tx.query(
      `update notification_deliveries delivery
          set (${PROGRESS}, lease_until) = (before.status, before.attempts, before.fence, before.last_error, before.ended_at, null)
         from pg_temp.deliveries_before_restore before
        where before.id = delivery.id and delivery.status = 'pending'`,
    );
  }
  const disabled = quiet
    ? await tx.query<[unknown, number]>(
        `update notification_channels set enabled = false, version = version + 1 where enabled`,
      )
    : undefined;
  const [row] = await tx.query<{ n: number }[]>(
    `select count(*)::integer as n from notification_deliveries
      where status = 'pending' and expires_at > now() - interval '1 hour'
        and channel_id in (select id from notification_channels where enabled)`,
  );
  return { sent: row!.n, channelsDisabled: disabled?.[1] ?? 0 };
}

async function isThere(tx: Tx, table: string): Promise<boolean> {
  const [row] = await tx.query<{ there: boolean }[]>(
    `select to_regclass($1) is not null as there`,
    [table],
  );
  return row!.there;
}
