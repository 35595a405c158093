import { randomBytes } from 'node:crypto';
import type { FoldedDelivery } from '../../src/notifications/deliveries.repository.js';
import { DeliveryWork } from '../../src/notifications/delivery.work.js';
import { ChannelsRepository } from '../../src/notifications/channel.js';
import type { SecretBox } from '../../src/platform/secrets/secret-box.js';
import { newId } from '../../src/platform/ids.js';
import { useTestDatabase } from '../support/open-test-database.js';
import {
  clearNotifications,
  Deliverer,
  insertChannel,
  insertEvents,
} from './notifications-harness.js';

describe('claims of notifications', () => {
  const { dataSource, query, transactions } = useTestDatabase();
  const deliverer = new Deliverer(dataSource);

  const channel = (): Promise<string> =>
    insertChannel(dataSource, [
      'incident.created',
      'action.pending_approval',
      'kill_switch.activated',
    ]);
  const ofSeverity = (severity: string, ...incidents: readonly string[]) =>
    insertEvents(dataSource, { type: 'incident.created', payload: { severity } }, ...incidents);
  const events = (...incidents: readonly string[]) => ofSeverity('high', ...incidents);
  const urgent = (type: string, ...subjects: readonly string[]) =>
    query(
      `insert into domain_events (events)
       select jsonb_agg(jsonb_build_object(
                'id', gen_random_uuid(), 'type', $1::text, 'subject_type', 'action', 'subject_id', gen_random_uuid(),
                'payload', jsonb_build_object('severity', 'high', 'incident_id', subject), 'occurred_at', now()))
         from unnest($2::text[]) as subject`,
      [type, subjects],
    );
  const inOrder = async (): Promise<string[]> => {
    const rows = await query('select id from notification_deliveries order by position');
    return rows.map(({ id }: { id: string }) => id);
  };
  const claim = async (places?: number, busy?: ReadonlyMap<string, number>) =>
    (await deliverer.claim(places, busy)).map(({ delivery }) => delivery);
  const end = (delivery: FoldedDelivery['delivery'], status?: 'delivered' | 'dead') =>
    deliverer.end({ delivery, carried: [] }, status);
  const different = (n: number) => Array.from({ length: n }, () => newId());

  beforeEach(() => clearNotifications(dataSource));

  it('take only the first pending delivery of an incident, even if many replicas claim at the same time', async () => {
    await channel();
    const incident = newId();
    for (let n = 0; n < 5; n += 1) await events(incident);
    const order: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const claimed = (await Promise.all(Array.from({ length: 6 }, () => claim()))).flat();
      expect(claimed).toHaveLength(1);
      order.push(claimed[0]!.id);
      await end(claimed[0]!, n % 2 === 0 ? 'delivered' : 'dead');
    }
    const rows = await query('select id from notification_deliveries order by position');
    expect(order).toEqual(rows.map(({ id }: { id: string }) => id));
  });

  it('take only the first delivery about a subject, and deliveries about other subjects at the same time', async () => {
    await channel();
    const long = randomBytes(6_000).toString('hex');
    await events('kill_switch', 'kill_switch', 'another', long, 'kill_switch');
    const [first, second, another, longest] = await inOrder();
    const ids = (claimed: readonly { id: string }[]) => claimed.map(({ id }) => id).toSorted();
    const claimed = await claim();
    expect(ids(claimed)).toEqual([first, another, longest].toSorted());
    expect(await claim()).toEqual([]);
    for (const one of claimed) await end(one, 'dead');
    expect(ids(await claim())).toEqual([second]);
  });

  it('take urgent deliveries and the earlier deliveries about the same incident first', async () => {
    await channel();
    const incident = newId();
    await events(...different(10), incident);
    await events(...different(10));
    await urgent('action.pending_approval', incident);
    await urgent('action.pending_approval', incident);
    await urgent('kill_switch.activated', 'kill_switch');
    const order = await inOrder();
    const [before, approval, second, killSwitch] = [10, 21, 22, 23].map((at) => order[at]);
    const claimed: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      const [next] = await claim(1);
      claimed.push(next!.id);
      await end(next!);
    }
    // Ids are random, so the delivery about the kill switch may be at any position.
    expect(claimed.filter((id) => id !== killSwitch)).toEqual([before, approval, second]);
    expect(claimed).toContain(killSwitch);
    expect(await claim()).toHaveLength(4);
  });

  it('find a delivery that became urgent after it waited for long', async () => {
    await channel();
    const incident = newId();
    await events(incident);
    await query(`update work set due_at = now() - interval '1 hour'`);
    await urgent('action.pending_approval', incident);
    const [first] = await query<{ urgency: number; is_new: boolean }[]>(
      `select urgency, due_at > now() - interval '1 minute' as is_new from work order by id limit 1`,
    );
    expect(first).toEqual({ urgency: 0, is_new: true });
  });

  it('take deliveries by severity, then by age', async () => {
    await channel();
    const lowThenCritical = newId();
    await ofSeverity('low', ...different(3), lowThenCritical);
    await ofSeverity('medium', newId());
    await ofSeverity('critical', lowThenCritical);
    await ofSeverity('high', newId());
    await ofSeverity('critical', newId());
    const severities: unknown[] = [];
    for (let n = 0; n < 8; n += 1) {
      const [next] = await claim(1);
      severities.push((next!.payload as { severity: string }).severity);
      await end(next!);
    }
    // One critical delivery waits for a low delivery of the same incident. The order of the first three is random,
    // because ids are random.
    expect(severities.slice(0, 3).toSorted()).toEqual(['critical', 'critical', 'low']);
    expect(severities.slice(3)).toEqual(['high', 'medium', 'low', 'low', 'low']);
  });

  it('take a held delivery only if a later delivery about its incident has to be sent', async () => {
    await channel();
    const [incident, other] = [newId(), newId()];
    await events(incident, other);
    await query(`update notification_deliveries set held_until = now() + interval '1 minute'`);
    await query(`update work set ready = false, due_at = now() + interval '1 minute'`);
    expect(await claim()).toEqual([]);
    await urgent('action.pending_approval', incident);
    const [held, ...more] = await claim();
    expect(more).toEqual([]);
    expect(held).toMatchObject({ type: 'incident.created', incident_id: incident });
    await end(held!);
    expect(await claim()).toMatchObject([{ type: 'action.pending_approval' }]);
    await query(`update notification_deliveries set held_until = now()`);
    await deliverer.hurry();
    expect(await claim()).toMatchObject([{ type: 'incident.created', incident_id: other }]);
  });

  it('take one delivery at a time of a slowed channel, and no delivery of a paused or disabled channel', async () => {
    const slow = await channel();
    const paused = await channel();
    const disabled = await channel();
    const slowDown = (id: string, column: string) =>
      query(`update work_lanes set ${column} = now() + interval '1 minute' where lane = $1`, [
        `notification.${id}`,
      ]);
    await slowDown(slow, 'narrow_until');
    await slowDown(paused, 'paused_until');
    await events(...different(3));
    await query('update notification_channels set enabled = false where id = $1', [disabled]);
    const [one, ...more] = await claim();
    expect([one!.channel_id, more]).toEqual([slow, []]);
    expect(await claim(4, new Map([[slow, 1]]))).toEqual([]);
    await query('update work_lanes set narrow_until = null');
    expect(await claim(4, new Map([[slow, 1]]))).toHaveLength(2);
  });

  it('read only the claimed deliveries, and no other deliveries of the channel', async () => {
    const id = await channel();
    await query(
      `insert into notification_deliveries
         (id, channel_id, event_id, type, subject_type, subject_id, payload, occurred_at, status, ended_at, expires_at)
       select gen_random_uuid(), $1, gen_random_uuid(), 'incident.created', 'incident', '', '{}', now(), 'dead', now(), now()
         from generate_series(1, 50)`,
      [id],
    );
    const channels = new ChannelsRepository(dataSource, {} as SecretBox);
    const make = DeliveryWork as unknown as new (...without: unknown[]) => DeliveryWork;
    const sender = new make(...Array.from({ length: 11 }), {});
    const failed = {
      channel: await channels.get(id),
      outcome: { kind: 'failed', why: '' },
    } as const;
    const [before, after] = await transactions.run(async (tx) => {
      const rowsRead = async () => {
        const [row] = await tx.query<{ n: string }[]>(
          `select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as n
             from pg_stat_xact_user_tables where relname = 'notification_deliveries'`,
        );
        return row?.n;
      };
      const before = await rowsRead();
      await channels.byIds(tx, [id]);
      await sender.store(tx, [failed]);
      return [before, await rowsRead()];
    });
    expect(after).toBe(before);
    expect((await channels.get(id)).dead_last_day).toBe(50);
  });

  it('read only the claimed rows, even if the table statistics are from an empty table', async () => {
    await query('vacuum (analyze, truncate off) work, notification_deliveries');
    await channel();
    await events(...different(600));
    const { deliveries } = deliverer;
    let read = 0;
    const load = jest.spyOn(deliveries, 'load').mockImplementationOnce(async (tx, claims) => {
      load.mockRestore();
      const rowsRead = async () => {
        const [row] = await tx.query<[{ n: number }]>(
          `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as n
             from pg_stat_xact_user_tables where relname in ('notification_deliveries', 'work')`,
        );
        return row.n;
      };
      const before = await rowsRead();
      const loaded = await deliveries.load(tx, claims);
      read = (await rowsRead()) - before;
      return loaded;
    });
    expect(await claim(50)).toHaveLength(50);
    expect(read).toBeLessThan(50 * 10);
  });

  it('are removed with their channel', async () => {
    const id = await channel();
    await events(...different(2));
    await claim(1);
    await query(
      `update notification_channels set enabled = false, deleted_at = now(), config = '{}' where id = $1`,
      [id],
    );
    expect(await query('select from work')).toEqual([]);
    expect(await query('select from work_lanes')).toEqual([]);
  });

  it('take one delivery for an event that was inserted twice', async () => {
    await channel();
    await events(newId());
    await query(`
      insert into domain_events (events)
      select jsonb_agg(to_jsonb(delivery) || jsonb_build_object('id', event_id)) from notification_deliveries delivery`);
    expect(await claim()).toHaveLength(1);
  });
});
