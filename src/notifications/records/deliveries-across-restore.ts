// SQL: updates of whole tables.
import type { Tx } from '../../platform/database/transactions.js';
import { NOTIFICATION } from './delivery-rows.js';

/** What a restore does about notifications. */
export interface DeliveriesAcrossRestore {
  readonly unsent: number;
  readonly channelsDisabled: number;
}

/**
 * To be called when the content has been replaced. What was on its way in the backup stays unsent, because people may have
 * read it already. It can be redelivered.
 *
 * @param quiet disables the channels: in a drill elsewhere nobody is to hear of what happens there
 */
export async function endDeliveriesOfBackup(
  tx: Tx,
  quiet: boolean,
): Promise<DeliveriesAcrossRestore> {
  const [, unsent] = await tx.query<[unknown, number]>(
    `update notification_deliveries
        set status = 'dead', ended_at = now(), last_error = 'Not sent: the database was restored from a backup.'
      where status = 'pending'`,
  );
  await tx.query('delete from work where kind = $1', [NOTIFICATION]);
  const disabled = quiet
    ? await tx.query<[unknown, number]>(
        `update notification_channels set enabled = false, version = version + 1 where enabled`,
      )
    : undefined;
  return { unsent, channelsDisabled: disabled?.[1] ?? 0 };
}
