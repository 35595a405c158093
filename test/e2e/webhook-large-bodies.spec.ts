import { Logger } from '@nestjs/common';
import { Settings } from '../../src/platform/config/settings.js';
import { Settlement } from '../../src/webhooks/receipt/settlement.js';
import { eventually } from '../support/jobs/eventually.js';
import { as, makeUser } from '../support/principals.js';
import { RawConnection } from '../support/raw-http.js';
import { startTestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() => startTestApp());

const MAPPING = { items: '/alerts', title: '/name', severity: '/level', event_id: '/id' };

const alerts = (from: number, count: number, prefix = 'a') =>
  Array.from({ length: count }, (_, n) => ({
    id: `${prefix}-${from + n}`,
    name: `alert ${from + n}`,
    level: 'low',
  }));

describe('bodies with many events', () => {
  const analyst = useStarted(() => as(app, 'analyst'));
  afterEach(() => jest.restoreAllMocks());

  const senderOf = async (source: string): Promise<WebhookSender> => {
    await registerSource(await as(app, 'admin'), { source, format: 'mapping', mapping: MAPPING });
    return new WebhookSender(app.client, source);
  };
  const settled = async (id: string) =>
    await eventually(
      async () => (await analyst.get(`/api/webhook-events/${id}`)).body.data,
      ({ status }) => status !== 'queued',
    );
  const titlesOf = async (source: string): Promise<string[]> => {
    const rows: { title: string }[] = await app.sql(
      'select title from incidents where source = $1 order by number',
      [source],
    );
    return rows.map(({ title }) => title);
  };
  const numbersTo = (count: number) => Array.from({ length: count }, (_, n) => `alert ${n}`);

  it('are accepted with 202 if they have more than 1 000 events, and are processed in order', async () => {
    const sender = await senderOf('large');
    const body = { alerts: alerts(0, 2_300) };
    const answer = await sender.send(body);
    expect(answer.status).toBe(202);
    const done = await settled(answer.body.queue_id);
    expect(done).toMatchObject({ status: 'processed', attempts: 1 });
    expect(done.incident_ids).toHaveLength(2_300);
    const listed = await analyst.get('/api/webhook-events?source=large');
    expect(listed.body.data[0].incident_ids).toEqual(done.incident_ids.slice(0, 100));
    expect(listed.body.data[0].incident_count).toBe(2_300);
    expect(done.incident_count).toBe(2_300);
    expect(await titlesOf('large')).toEqual(numbersTo(2_300));
    const again = await sender.send(body);
    expect(await settled(again.body.queue_id)).toMatchObject({
      status: 'duplicate',
      duplicate_of: answer.body.queue_id,
    });
  });

  it('given two states of each event → create incidents of the first states, and update them', async () => {
    const sender = await senderOf('twice');
    const later = alerts(0, 200).map((alert) => ({ ...alert, name: `later ${alert.name}` }));
    const { body } = await sender.send({ alerts: [...alerts(0, 200), ...later] });
    expect((await titlesOf('twice')).sort()).toEqual(numbersTo(200).sort());
    const updated = body.incidents.map((one: { updated?: boolean }) => one.updated === true);
    expect(updated).toEqual([...Array(200).fill(false), ...Array(200).fill(true)]);
  });

  it('leave half of the database connections to other requests while many bodies change the same events', async () => {
    const sender = await senderOf('often');
    const settlement = app.nest.get(Settlement);
    const settle = settlement.settle.bind(settlement);
    let running = 0;
    let most = 0;
    jest.spyOn(settlement, 'settle').mockImplementation(async (tx, arrival, events) => {
      most = Math.max(most, (running += 1));
      await tx.query('select pg_sleep(0.01)');
      return await settle(tx, arrival, events).finally(() => (running -= 1));
    });
    const bodies = Array.from({ length: 40 }, (_, n) =>
      alerts(0, 8).map((alert) => ({ ...alert, name: `${alert.name}, state ${n}` })),
    );
    const answers = await Promise.all(bodies.map((body) => sender.send({ alerts: body })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(most).toBe(app.nest.get(Settings).databasePoolSize / 2);
  });

  it('skip only an event that cannot be stored, keep the other events, and store it when the body is replayed', async () => {
    const sender = await senderOf('partly');
    const settlement = app.nest.get(Settlement);
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const settle = settlement.settle.bind(settlement);
    const faulty = jest
      .spyOn(settlement, 'settle')
      .mockImplementation(async (tx, arrival, events) => {
        const settled = await settle(tx, arrival, events);
        if (events.some(({ eventId }) => eventId === 'a-3')) await tx.query('select 1 / 0');
        return settled;
      });
    // Each alert has a timeline entry, which must be rolled back together with its incident.
    const unknown = alerts(0, 6).map((alert) => ({ ...alert, level: 'odd' }));
    const answer = await sender.send({ alerts: unknown });
    expect(answer.status).toBe(202);
    const done = await settled(answer.body.queue_id);
    expect(done).toMatchObject({
      status: 'failed',
      error: '1 of 6 events could not be stored. The log has the cause.',
      incident_count: 5,
    });
    expect(await titlesOf('partly')).toEqual([0, 1, 2, 4, 5].map((n) => `alert ${n}`));
    const replay = () => analyst.post(`/api/webhook-events/${done.id}/replay`);
    expect((await replay()).body.data).toMatchObject({ status: 'failed', error: done.error });

    await (await as(app, 'admin')).delete('/api/webhooks/partly');
    const unknown_source = {
      error: 'The source of the event is no longer registered.',
      incident_count: 5,
    };
    expect((await replay()).body.data).toMatchObject(unknown_source);
    await senderOf('partly');

    faulty.mockRestore();
    expect((await replay()).body.data).toMatchObject({ status: 'processed', incident_count: 6 });
  });

  it('keep their bytes if they are replayed after all events have incidents', async () => {
    const sender = await senderOf('late');
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const faulty = jest
      .spyOn(app.nest.get(Settlement), 'settle')
      .mockRejectedValue(new Error('a fault'));
    const body = { alerts: alerts(0, 2) };
    const failed = await settled((await sender.send(body)).body.queue_id);
    expect(failed.status).toBe('failed');
    faulty.mockRestore();
    for (const n of [0, 1]) expect((await sender.send({ alerts: alerts(n, 1) })).status).toBe(200);
    const { data } = (await analyst.post(`/api/webhook-events/${failed.id}/replay`)).body;
    expect(data).toMatchObject({ status: 'duplicate', body: JSON.stringify(body) });
    expect(data.duplicate_of).not.toBe(failed.id);
  });

  it('count each event for RATE_LIMIT_WEBHOOK; a body is accepted completely and the next body is rejected', async () => {
    const sender = await senderOf('limited');
    await using limited = await startTestApp({
      database: app.database,
      settings: { RATE_LIMIT_WEBHOOK: '10' },
    });
    const one = new WebhookSender(limited.client, 'limited');
    expect((await one.send({ alerts: alerts(0, 6) })).status).toBe(200);
    expect((await one.send({ alerts: alerts(6, 2) })).headers['x-ratelimit-remaining']).toBe('3');
    expect((await one.send({ alerts: alerts(8, 30) })).status).toBe(200);
    const refused = await one.send({ alerts: alerts(38, 1) });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    expect((await sender.send({ alerts: alerts(38, 1) })).status).toBe(200);
  });
});

describe('Slow bodies without a credential', () => {
  const LARGE_BYTES = 300_000;
  const SMALL_BYTES = 16_384;
  const RECEIPTS = 20;
  const held: RawConnection[] = [];

  beforeAll(async () => {
    await registerSource(await as(app, 'admin'));
  });
  afterEach(() => held.splice(0).forEach((connection) => connection.reset()));

  /** Sends a body that never ends to a source that does not exist. */
  const hold = async (framing: 'announced' | 'chunked', size: number): Promise<void> => {
    const connection = await RawConnection.open(app.port);
    held.push(connection);
    const head = framing === 'announced' ? `Content-Length: ${size}` : 'Transfer-Encoding: chunked';
    const bytes = 'x'.repeat(size - 1_000);
    const part = framing === 'announced' ? bytes : `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
    connection.send(
      `POST /api/webhooks/nobody HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${head}\r\n\r\n`,
      part,
    );
  };

  it.each([
    [48, 'chunked', LARGE_BYTES],
    [200, 'announced', SMALL_BYTES],
  ] as const)(
    'from %d connections (%s, %d bytes) do not block signed requests and logins from the same address',
    async (connections, framing, size) => {
      await Promise.all(Array.from({ length: connections }, () => hold(framing, size)));
      const sender = new WebhookSender(app.client);
      const statuses: number[] = [];
      for (let count = 0; count < RECEIPTS; count += 1) {
        const event = {
          event_type: 'malware',
          timestamp: '2026-01-31T09:30:00Z',
          source: 'siem',
          data: { alert_id: `${connections} ${framing} ${size} ${count}`, text: 'y'.repeat(4_000) },
        };
        statuses.push((await sender.send(event)).status);
      }
      expect(new Set(statuses)).toEqual(new Set([200]));
      const user = await makeUser(app, 'viewer');
      const body = { username: user.name, password: user.password };
      expect((await app.post('/login', body)).status).toBe(200);
    },
  );
});
