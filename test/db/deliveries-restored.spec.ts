import {
  disableChannels,
  endDeliveriesOfBackup,
} from '../../src/notifications/deliveries.repository.js';
import { newId } from '../../src/platform/ids.js';
import { useTestDatabase } from '../support/open-test-database.js';
import { clearNotifications, insertChannel, insertEvents } from './notifications-harness.js';

describe('notifications across a restore', () => {
  const { dataSource, query, transactions } = useTestDatabase();

  it('stay unsent if they were pending, and do not change if they had ended', async () => {
    await clearNotifications(dataSource);
    await insertChannel(dataSource, ['incident.created']);
    await insertEvents(dataSource, { type: 'incident.created' }, newId(), newId());
    await query(
      `update notification_deliveries set status = 'delivered', ended_at = now()
        where position = (select min(position) from notification_deliveries)`,
    );
    expect(await transactions.run(endDeliveriesOfBackup)).toBe(1);
    expect(await transactions.run(disableChannels)).toBe(1);
    expect(
      await query('select status, last_error from notification_deliveries order by position'),
    ).toEqual([
      { status: 'delivered', last_error: null },
      { status: 'dead', last_error: 'Not sent: the database was restored from a backup.' },
    ]);
    expect(await query(`select from work where kind = 'notification'`)).toEqual([]);
    expect(await query('select places from work_lanes where kind is not null')).toEqual([
      { places: 0 },
    ]);
  });
});
