import {
  carryDeliveriesOverRestore,
  noteDeliveriesBeforeRestore,
} from '../../src/notifications/records/deliveries-across-restore.js';
import { newId } from '../../src/platform/ids.js';
import { useTestDatabase } from '../support/open-test-database.js';
import { clearNotifications, insertChannel } from './notifications-harness.js';

describe('notifications across a restore', () => {
  const { dataSource, query, transactions } = useTestDatabase();

  const delivery = async (channel: string): Promise<string> => {
    const id = newId();
    await query(
      `insert into notification_deliveries
         (id, channel_id, event_id, type, subject_type, subject_id, payload, occurred_at, due_at, expires_at)
       values ($1, $2, $1, 'incident.created', 'incident', '', '{}', now(), now(), now() + interval '1 day')`,
      [id, channel],
    );
    return id;
  };
  const statusOf = async (id: string) =>
    (await query('select status from notification_deliveries where id = $1', [id]))[0]?.status;
  let channel: string;

  beforeEach(async () => {
    await clearNotifications(dataSource);
    channel = await insertChannel(dataSource, ['incident.created']);
  });

  it('stay ended when they ended since the backup, and the others are sent', async () => {
    const [delivered, dead, waiting] = [
      await delivery(channel),
      await delivery(channel),
      await delivery(channel),
    ];
    await query(
      `update notification_deliveries set status = case id when $1 then 'delivered' else 'dead' end, ended_at = now(), attempts = 3
        where id <> $2`,
      [delivered, waiting],
    );
    const across = await transactions.run(async (tx) => {
      await noteDeliveriesBeforeRestore(tx);
      // As they were in the backup.
      await tx.query(
        `update notification_deliveries set status = 'pending', ended_at = null, attempts = 0`,
      );
      return await carryDeliveriesOverRestore(tx, false);
    });
    expect(across).toEqual({ sent: 1, channelsDisabled: 0 });
    expect(await Promise.all([delivered, dead, waiting].map(statusOf))).toEqual([
      'delivered',
      'dead',
      'pending',
    ]);
    const [row] = await query('select attempts, fence from notification_deliveries where id = $1', [
      dead,
    ]);
    expect(row).toEqual({ attempts: 3, fence: 0 });
  });
});
