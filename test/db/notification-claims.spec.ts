import { randomBytes } from 'node:crypto';
import type { ClaimedDelivery } from '../../src/notifications/delivery.js';
import {
  ALONG_INDEXES,
  CLAIM,
  type ClaimRequest,
  DeliveryWritesRepository,
} from '../../src/notifications/records/delivery-writes.repository.js';
import { newId } from '../../src/platform/ids.js';
import { useTestDatabase } from '../support/open-test-database.js';
import { clearNotifications, insertChannel, insertEvents } from './notifications-harness.js';
import { rowsRead } from './webhook-events-harness.js';

const REQUEST: ClaimRequest = {
  underWay: new Map(),
  placesPerChannel: 4,
  failuresUntilProbing: 3,
  leaseMs: 30_000,
};
const WAITING = 5_000;

describe('claims of notifications', () => {
  const { dataSource, query, statements, transactions } = useTestDatabase();
  const deliveries = new DeliveryWritesRepository(statements);

  const channel = async (more = ''): Promise<string> => {
    const events = ['incident.created', 'action.pending_approval', 'kill_switch.activated'];
    const id = await insertChannel(dataSource, events);
    if (more) await query(`update notification_channels set ${more} where id = $1`, [id]);
    return id;
  };
  const ofSeverity = (severity: string, ...incidents: readonly string[]) =>
    insertEvents(dataSource, { type: 'incident.created', payload: { severity } }, ...incidents);
  const events = (...incidents: readonly string[]) => ofSeverity('high', ...incidents);
  const urgent = (type: string, ...subjects: readonly string[]) =>
    query(
      `insert into domain_events (id, type, subject_type, subject_id, payload, occurred_at)
       select gen_random_uuid(), $1, 'action', gen_random_uuid(),
              jsonb_build_object('severity', 'high', 'incident_id', subject), now()
         from unnest($2::text[]) as subject`,
      [type, subjects],
    );
  const inOrder = async (): Promise<string[]> => {
    const rows = await query('select id from notification_deliveries order by position');
    return rows.map(({ id }: { id: string }) => id);
  };
  const claim = (more: Partial<ClaimRequest> = {}): Promise<ClaimedDelivery[]> =>
    transactions.run((tx) => deliveries.claim(tx, { ...REQUEST, ...more }));
  const different = (n: number) => Array.from({ length: n }, () => newId());

  beforeEach(() => clearNotifications(dataSource));

  it('take as many of each channel as it has places free', async () => {
    const [one, two] = [await channel(), await channel()];
    await events(...different(6));
    const claimed = await claim({ underWay: new Map([[one, 3]]) });
    const of = (id: string) => claimed.filter(({ channelId }) => channelId === id).length;
    expect([of(one), of(two)]).toEqual([1, 4]);
    expect(
      await claim({
        underWay: new Map([
          [one, 4],
          [two, 7],
        ]),
      }),
    ).toEqual([]);
  });

  it('take none twice while the lease counts, and one that lapsed with a higher fence', async () => {
    await channel();
    await events(newId());
    const [first] = await claim();
    expect(await claim()).toEqual([]);
    await query(`update notification_deliveries set lease_until = now() - interval '1 second'`);
    const [second] = await claim();
    expect(second).toMatchObject({ id: first!.id, fence: first!.fence + 1, attempts: 2 });
    const ended = await transactions.run((tx) => deliveries.delivered(tx, [first!, second!]));
    expect(ended).toEqual(new Set([second!.id]));
    const [{ status }] = await query('select status from notification_deliveries');
    expect(status).toBe('delivered');
    expect(await transactions.run((tx) => deliveries.delivered(tx, [first!]))).toEqual(new Set());
  });

  it('take of an incident only the first that is open, also when many replicas claim at once', async () => {
    await channel();
    const incident = newId();
    for (let n = 0; n < 5; n += 1) await events(incident);
    const order: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const claimed = (await Promise.all(Array.from({ length: 6 }, () => claim()))).flat();
      expect(claimed).toHaveLength(1);
      order.push(claimed[0]!.id);
      await transactions.run<unknown>((tx) =>
        n % 2 === 0 ? deliveries.delivered(tx, claimed) : deliveries.dead(tx, claimed[0]!, 'No.'),
      );
    }
    const rows = await query('select id from notification_deliveries order by position');
    expect(order).toEqual(rows.map(({ id }: { id: string }) => id));
  });

  it('take only the first of what is about the same thing, and what is about others beside it', async () => {
    await channel();
    const long = randomBytes(6_000).toString('hex');
    await events('kill_switch', 'kill_switch', 'another', long, 'kill_switch');
    const [first, second, another, longest] = await inOrder();
    const ids = (claimed: ClaimedDelivery[]) => claimed.map(({ id }) => id).toSorted();
    expect(ids(await claim())).toEqual([first, another, longest].toSorted());
    expect(await claim()).toEqual([]);
    await query(
      `update notification_deliveries set status = 'dead', ended_at = now() where attempts > 0`,
    );
    expect(ids(await claim())).toEqual([second]);
  });

  it('take first what is urgent, with what has to go before it', async () => {
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
      const [next] = await claim({ placesPerChannel: 1 });
      claimed.push(next!.id);
      await transactions.run((tx) => deliveries.delivered(tx, [next!]));
    }
    // Ids of tests are by chance, so the kill switch is somewhere among them.
    expect(claimed.filter((id) => id !== killSwitch)).toEqual([before, approval, second]);
    expect(claimed).toContain(killSwitch);
    expect(await claim()).toHaveLength(4);
  });

  it('take by severity, then by age, what no line holds up', async () => {
    await channel();
    const lowThenCritical = newId();
    await ofSeverity('low', ...different(3), lowThenCritical);
    await ofSeverity('medium', newId());
    await ofSeverity('critical', lowThenCritical);
    await ofSeverity('high', newId());
    await ofSeverity('critical', newId());
    const severities: unknown[] = [];
    for (let n = 0; n < 8; n += 1) {
      const [next] = await claim({ placesPerChannel: 1 });
      severities.push(next!.payload['severity']);
      await transactions.run((tx) => deliveries.delivered(tx, [next!]));
    }
    // Of the two critical ones, one waits for the low one that came before it about its incident. Ids of tests are by chance.
    expect(severities.slice(0, 3).toSorted()).toEqual(['critical', 'critical', 'low']);
    expect(severities.slice(3)).toEqual(['high', 'medium', 'low', 'low', 'low']);
  });

  it('take nothing that is held, unless something later about its incident is wanted', async () => {
    await channel();
    const [incident, other] = [newId(), newId()];
    await events(incident, other);
    await query(`update notification_deliveries set held_until = now() + interval '1 minute'`);
    expect(await claim()).toEqual([]);
    await urgent('action.pending_approval', incident);
    const [held, ...more] = await claim();
    expect(more).toEqual([]);
    expect(held).toMatchObject({ type: 'incident.created', incidentId: incident });
    await transactions.run((tx) => deliveries.delivered(tx, [held!]));
    expect(await claim()).toMatchObject([{ type: 'action.pending_approval' }]);
    await query(
      `update notification_deliveries set held_until = now() where held_until is not null`,
    );
    expect(await claim()).toMatchObject([{ type: 'incident.created', incidentId: other }]);
  });

  it('take something urgent of each incident, however much there is of one', async () => {
    await channel();
    const incident = newId();
    await urgent('action.pending_approval', ...Array.from({ length: 30 }, () => incident));
    await events(...different(10));
    await urgent('kill_switch.activated', 'kill_switch');
    expect((await claim()).map(({ type }) => type).toSorted()).toEqual([
      'action.pending_approval',
      'incident.created',
      'incident.created',
      'kill_switch.activated',
    ]);
  });

  it('take one at a time of a channel whose receiver wants no more', async () => {
    const id = await channel(`one_by_one_until = now() + interval '1 minute'`);
    await events(...different(3));
    expect(await claim()).toHaveLength(1);
    expect(await claim({ underWay: new Map([[id, 1]]) })).toEqual([]);
    await query(`update notification_channels set one_by_one_until = now()`);
    expect(await claim({ underWay: new Map([[id, 1]]) })).toHaveLength(2);
  });

  it('take nothing of a channel that is disabled or paused, and one of a channel that fails', async () => {
    await channel(`paused_until = now() + interval '1 minute'`);
    const failing = await channel(`failures = 3, failing_since = now()`);
    const disabled = await channel();
    await events(...different(5));
    await query('update notification_channels set enabled = false where id = $1', [disabled]);
    expect((await claim()).map(({ channelId }) => channelId)).toEqual([failing]);
    expect(await claim({ underWay: new Map([[failing, 1]]) })).toEqual([]);
  });

  it('take what is due, and not what waits or expired long ago', async () => {
    await channel();
    await events(...different(3));
    const [one, two] = await query('select id from notification_deliveries order by position');
    await query(
      `update notification_deliveries set due_at = now() + interval '1 hour' where id = $1`,
      [one.id],
    );
    await query(
      `update notification_deliveries set expires_at = now() - interval '2 hours' where id = $1`,
      [two.id],
    );
    const claimed = await claim();
    expect(claimed).toHaveLength(1);
    expect([one.id, two.id]).not.toContain(claimed[0]!.id);
    expect(claimed[0]!.leftMs).toBeGreaterThan(86_000_000);
  });

  it('are one for each event and channel, also when the event is written again', async () => {
    await channel();
    await events(newId());
    await query(`
      insert into domain_events (id, type, subject_type, subject_id, payload, occurred_at)
      select event_id, type, subject_type, subject_id, payload, occurred_at from notification_deliveries`);
    expect(await claim()).toHaveLength(1);
  });

  it(`look at few of ${WAITING} that wait`, async () => {
    const id = await channel();
    await query(
      `insert into notification_deliveries
         (id, channel_id, event_id, type, subject_type, subject_id, payload, occurred_at, incident_id, due_at, expires_at)
       select gen_random_uuid(), $1, gen_random_uuid(), 'incident.created', 'incident', '', '{}', now(), gen_random_uuid(),
              now(), now() + interval '1 day'
         from generate_series(1, $2)`,
      [id, WAITING],
    );
    for (const upkeep of ['select', 'analyze', 'vacuum analyze']) {
      await query(upkeep === 'select' ? upkeep : `${upkeep} notification_deliveries`);
      const [{ 'QUERY PLAN': plan }] = await transactions.run(async (tx) => {
        await tx.query(ALONG_INDEXES.text);
        const values = [[], [], 4, 3, 30_000];
        return await tx.query(`explain (analyze, format json) ${CLAIM.text}`, values);
      });
      // A few more than it takes: for each there is one look at the order of its incident.
      expect(rowsRead('notification_deliveries', plan[0].Plan)).toBeLessThan(100);
    }
  });
});
