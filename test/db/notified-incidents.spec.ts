import { NOTIFIED_EVENTS } from '../../src/notifications/notification.js';
import { newId } from '../../src/platform/ids.js';
import { useTestDatabase } from '../support/open-test-database.js';
import { insertChannel } from './notifications-harness.js';

const INSERT_EVENT = `
  insert into domain_events (events)
  select jsonb_build_array(jsonb_build_object(
    'id', $1::uuid, 'type', $2::text, 'subject_type', 'incident', 'subject_id', $3::text, 'payload', $4::jsonb,
    'occurred_at', now()))`;

describe('deliveries of an incident', () => {
  const { dataSource, query } = useTestDatabase();

  const channel = (events: readonly string[], minSeverity = 'low') =>
    insertChannel(dataSource, events, { minSeverity });
  /** Inserts an event. Returns the number of its deliveries. */
  const notify = async (
    type: string,
    incident: string,
    severity?: string,
    previous_severity?: string,
  ): Promise<number> => {
    const id = newId();
    await query(INSERT_EVENT, [id, type, incident, { severity, previous_severity }]);
    const [row] = await query(
      'select count(*)::integer as n from notification_deliveries where event_id = $1',
      [id],
    );
    return row.n as number;
  };

  it('go to channels whose minimum severity the incident reaches, and to channels that already got a delivery about it', async () => {
    const high = await channel(NOTIFIED_EVENTS, 'high');
    const [known, unknown] = [newId(), newId()];
    expect(await notify('incident.created', unknown, 'low')).toBe(0);
    expect(await notify('incident.severity_changed', unknown, 'medium')).toBe(0);
    expect(await notify('incident.resolved', unknown, 'medium')).toBe(0);
    expect(await notify('incident.severity_changed', known, 'high')).toBe(1);
    expect(await notify('incident.severity_changed', known, 'low')).toBe(1);
    expect(await notify('incident.deleted', known, 'low')).toBe(1);
    // Now another channel was notified of the incident, and this channel was not.
    await query(`update notification_deliveries set channel_id = $1`, [newId()]);
    expect(await notify('incident.resolved', known, 'low')).toBe(0);
    // A channel never gets events that it did not choose, even about an incident of which it was notified.
    expect(await notify('incident.created', known, 'high')).toBe(1);
    await query(`update notification_channels set events = '{incident.created}' where id = $1`, [
      high,
    ]);
    expect(await notify('incident.resolved', known, 'critical')).toBe(0);
    expect(await notify('incident.created', `${known} `, 'low')).toBe(0);
  });

  it('use new_incident_min_severity for new incidents and raised severities', async () => {
    await query('delete from notification_channels');
    await channel(NOTIFIED_EVENTS);
    await query(`update notification_channels set new_incident_min_severity = 'high'`);
    const incident = newId();
    expect(await notify('incident.created', newId(), 'medium')).toBe(0);
    expect(await notify('incident.created', newId(), 'high')).toBe(1);
    expect(await notify('triage.failed', newId(), 'low')).toBe(1);
    expect(await notify('incident.severity_changed', incident, 'medium', 'low')).toBe(0);
    expect(await notify('incident.severity_changed', incident, 'high', 'medium')).toBe(1);
    expect(await notify('incident.severity_changed', incident, 'high', 'critical')).toBe(0);
    expect(await notify('incident.created', newId())).toBe(1);
  });

  it.each([
    ['programs, which have no groups', 'programs', 'low', 'incident.triaged'],
    ['people, for whom incidents of a group are one message', 'people', 'low', 'incident.created'],
    ['a channel that may know the incident', 'programs', 'high', 'incident.resolved'],
  ])(
    'read few rows for %s, even with a query plan that was made for an empty table',
    async (_, audience, minSeverity, event) => {
      await query('delete from notification_channels');
      await query('truncate notification_deliveries');
      await query('analyze notification_deliveries');
      const id = await channel(NOTIFIED_EVENTS, minSeverity);
      await query('update notification_channels set audience = $1', [audience]);
      const payload = { severity: 'low', group: 'a group' };
      const connection = dataSource.createQueryRunner();
      const rowsRead = async (): Promise<number> => {
        const [row] = await connection.query(
          `select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as n
             from pg_stat_xact_user_tables where relname = 'notification_deliveries'`,
        );
        return Number(row.n);
      };
      const write = (incident: string) =>
        connection.query(INSERT_EVENT, [newId(), event, incident, payload]);
      try {
        await write(newId());
        await query(
          `insert into notification_deliveries
             (id, channel_id, event_id, type, subject_type, subject_id, payload, occurred_at, incident_id, status, ended_at,
              expires_at)
           select gen_random_uuid(), $1, gen_random_uuid(), 'incident.created', 'incident', '', '{}', now(),
                  gen_random_uuid(), 'delivered', now(), now()
             from generate_series(1, 2000)`,
          [id],
        );
        await connection.startTransaction();
        const before = await rowsRead();
        await write(newId());
        expect((await rowsRead()) - before).toBeLessThan(20);
      } finally {
        await connection.rollbackTransaction();
        await connection.release();
      }
    },
  );
});
