import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Settlement } from '../../src/webhooks/receipt/settlement.js';
import { SourceDirectory } from '../../src/webhooks/sources/source-directory.js';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { registerSource, signed, WebhookSender } from '../support/webhook-sender.js';

const MAPPING = { items: '/alerts', title: '/name', severity: '/level', event_id: '/id' };

const TITLE = { title: '/name', severity: '/level', event_id: '/id' };

const alerts = (from: number, count: number, prefix = 'a') =>
  Array.from({ length: count }, (_, n) => ({
    id: `${prefix}-${from + n}`,
    name: `alert ${from + n}`,
    level: 'low',
  }));

describe('bodies of many events', () => {
  let app: TestApp;
  let analyst: ApiClient;

  beforeAll(async () => {
    app = await startTestApp();
    analyst = await as(app, 'analyst');
  });
  afterAll(() => app?.close());
  afterEach(() => jest.restoreAllMocks());

  const senderOf = async (source: string): Promise<WebhookSender> => {
    await registerSource(await as(app, 'admin'), { source, format: 'mapping', mapping: MAPPING });
    return new WebhookSender(app.client, source);
  };
  const settled = async (id: string) =>
    await eventually(
      async () => (await analyst.request('GET', `/api/webhook-events/${id}`)).body.data,
      ({ status }) => status !== 'queued',
    );
  const titlesOf = async (source: string): Promise<string[]> => {
    const rows: { title: string }[] = await app.nest
      .get(DataSource)
      .query('select title from incidents where source = $1 order by number', [source]);
    return rows.map(({ title }) => title);
  };
  const numbersTo = (count: number) => Array.from({ length: count }, (_, n) => `alert ${n}`);

  it('answers 202 for more than 1 000 events and settles all of them in order', async () => {
    const sender = await senderOf('large');
    const body = { alerts: alerts(0, 2_300) };
    const answer = await sender.send(body);
    expect(answer.status).toBe(202);
    const done = await settled(answer.body.queue_id);
    expect(done).toMatchObject({ status: 'processed', attempts: 1 });
    expect(done.incident_ids).toHaveLength(2_300);
    const listed = await analyst.request('GET', '/api/webhook-events?source=large');
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

  it('goes on after a part whose transaction was lost, without twins', async () => {
    const sender = await senderOf('lost');
    const settlement = app.nest.get(Settlement);
    const settle = settlement.settle.bind(settlement);
    let calls = 0;
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    jest.spyOn(settlement, 'settle').mockImplementation(async (tx, read) => {
      const result = await settle(tx, read);
      calls += 1;
      // The second part has written everything when its connection ends.
      if (calls === 2) throw Object.assign(new Error('terminating connection'), { code: '57P01' });
      return result;
    });
    const { body } = await sender.send({ alerts: alerts(0, 2_001) });
    expect(await settled(body.queue_id)).toMatchObject({ status: 'processed' });
    expect(await titlesOf('lost')).toEqual(numbersTo(2_001));
  });

  it('settles several side by side with two connections', async () => {
    const small = await startTestApp({ settings: { DATABASE_POOL_SIZE: '2' } });
    try {
      const admin = await as(small, 'admin');
      await registerSource(admin, { source: 'small', format: 'mapping', mapping: MAPPING });
      // As if the sources had just been changed.
      const sources = small.nest.get(SourceDirectory);
      const find = sources.find.bind(sources);
      jest.spyOn(sources, 'find').mockImplementation((name) => {
        sources.forget();
        return find(name);
      });
      const sender = new WebhookSender(small.client, 'small');
      for (const n of [0, 1, 2, 3]) await sender.send({ alerts: alerts(0, 1_001, `body-${n}`) });
      await eventually(
        async () => (await admin.request('GET', '/api/webhook-events?status=queued')).body.meta,
        ({ total }) => total === 0,
      );
      const { body } = await admin.request('GET', '/api/webhook-events?status=processed');
      expect(body.data.map(({ attempts }: { attempts: number }) => attempts)).toEqual([1, 1, 1, 1]);
    } finally {
      await small.close();
    }
  });

  it('leaves out the one event that cannot be stored, names it, and stores it when it is replayed', async () => {
    const sender = await senderOf('partly');
    const settlement = app.nest.get(Settlement);
    const settle = settlement.settle.bind(settlement);
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const faulty = jest.spyOn(settlement, 'settle').mockImplementation(async (tx, read) => {
      if (read.events.some(({ eventId }) => eventId === 'a-3')) throw new Error('a fault');
      return await settle(tx, read);
    });
    const answer = await sender.send({ alerts: alerts(0, 6) });
    expect(answer.status).toBe(202);
    const done = await settled(answer.body.queue_id);
    expect(done).toMatchObject({ status: 'failed', error: expect.stringContaining('number 4.') });
    expect(done.incident_ids).toHaveLength(5);
    expect(await titlesOf('partly')).toEqual([0, 1, 2, 4, 5].map((n) => `alert ${n}`));

    const refused = await analyst.request('POST', `/api/webhook-events/${done.id}/replay`);
    expect([refused.status, refused.body.data.status]).toEqual([200, 'queued']);
    expect(await settled(done.id)).toMatchObject({ status: 'failed', error: done.error });

    faulty.mockRestore();
    const replayed = await analyst.request('POST', `/api/webhook-events/${done.id}/replay`);
    expect(replayed.body.data).toMatchObject({ status: 'processed' });
    expect(replayed.body.data.incident_ids).toHaveLength(6);
  });

  it('fails again when its one event still cannot be stored at a replay', async () => {
    const sender = await senderOf('alone');
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    await sender.send({ alerts: [{ ...alerts(0, 1)[0], name: undefined }] });
    const kept = await app.nest
      .get(DataSource)
      .query(
        `update webhook_events set status = 'failed', error = 'before' where source = 'alone' returning id`,
      );
    jest.spyOn(app.nest.get(Settlement), 'settle').mockRejectedValue(new Error('a fault'));
    const id = kept[0][0].id as string;
    const replayed = await analyst.request('POST', `/api/webhook-events/${id}/replay`);
    expect(replayed.status).toBe(200);
    expect(replayed.body.data).toMatchObject({
      status: 'failed',
      error: 'It could not be stored: the log has the cause.',
    });
  });

  it('counts each event for RATE_LIMIT_WEBHOOK, takes a body whole, and then refuses the next', async () => {
    const sender = await senderOf('limited');
    const limited = await startTestApp({
      database: app.database,
      settings: { RATE_LIMIT_WEBHOOK: '10' },
    });
    try {
      const one = new WebhookSender(limited.client, 'limited');
      expect((await one.send({ alerts: alerts(0, 6) })).status).toBe(200);
      expect((await one.send({ alerts: alerts(6, 2) })).headers['x-ratelimit-remaining']).toBe('3');
      expect((await one.send({ alerts: alerts(8, 30) })).status).toBe(200);
      const refused = await one.send({ alerts: alerts(38, 1) });
      expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    } finally {
      await limited.close();
    }
    expect((await sender.send({ alerts: alerts(38, 1) })).status).toBe(200);
  });

  it('counts what is sent again by somebody who caught it, apart from the limit of the source', async () => {
    await senderOf('caught');
    const limited = await startTestApp({
      database: app.database,
      settings: { RATE_LIMIT_WEBHOOK: '2000' },
    });
    try {
      const body = JSON.stringify({ alerts: alerts(0, 1_500) });
      const headers = {
        'content-type': 'application/json',
        ...signed({ body, source: 'caught' }),
      };
      const statuses: number[] = [];
      for (let n = 0; n < 4; n += 1) {
        const path = '/api/webhooks/caught';
        statuses.push((await limited.client.request('POST', path, { body, headers })).status);
      }
      expect(statuses).toEqual([202, 202, 202, 429]);
      const fresh = await new WebhookSender(limited.client, 'caught').send({ alerts: [] });
      expect(fresh.status).toBe(202);
    } finally {
      await limited.close();
    }
  });

  it('replays a kept event of more than 1 000 events', async () => {
    const sender = await senderOf('kept');
    const { body } = await sender.send({ alerts: alerts(0, 1_200) });
    await settled(body.queue_id);
    // As releases before this one kept what was too large for them.
    const database = app.nest.get(DataSource);
    await database.query(`delete from webhook_seen_events where source = 'kept'`);
    await database.query(
      `update webhook_events set status = 'failed', incident_ids = '{}' where id = $1`,
      [body.queue_id],
    );
    const replayed = await analyst.request('POST', `/api/webhook-events/${body.queue_id}/replay`);
    expect(replayed.body.data).toMatchObject({ status: 'queued' });
    const done = await settled(body.queue_id);
    expect(done).toMatchObject({ status: 'processed' });
    expect(done.incident_ids).toHaveLength(1_200);
  });

  describe('that are lines of JSON', () => {
    const LINES = 'application/x-ndjson';
    const linesOf = (list: readonly object[]) =>
      list.map((one) => JSON.stringify(one)).join('\r\n');

    it('makes an incident of each line, and of a broken one, too', async () => {
      await registerSource(await as(app, 'admin'), { source: 'lines', mapping: TITLE });
      const sender = new WebhookSender(app.client, 'lines');
      const body = `${linesOf(alerts(0, 2))}\n{"id":"a-2","na\n`;
      const answer = await sender.send(body, LINES);
      expect([answer.status, answer.body.incidents.length]).toEqual([200, 3]);
      expect((await sender.send(body, LINES)).body.duplicate).toBe(true);
      expect((await titlesOf('lines')).slice(0, 2)).toEqual(numbersTo(2));
      expect((await sender.send(body)).status).toBe(400);
      expect((await sender.send('{"id":\n{"na', LINES)).status).toBe(400);
      const preview = await (
        await as(app, 'admin')
      ).request('POST', '/api/webhooks/lines/preview', {
        body,
        headers: { 'content-type': LINES },
      });
      expect(preview.body.data.incidents).toHaveLength(3);
    });

    it('answers 202 for more than 1 000 lines and settles all of them in order', async () => {
      await registerSource(await as(app, 'admin'), { source: 'many-lines', mapping: TITLE });
      const sender = new WebhookSender(app.client, 'many-lines');
      const answer = await sender.send(linesOf(alerts(0, 1_500)), LINES);
      expect(answer.status).toBe(202);
      expect((await settled(answer.body.queue_id)).incident_ids).toHaveLength(1_500);
      expect(await titlesOf('many-lines')).toEqual(numbersTo(1_500));
    });
  });

  it('reads the members of a list at the top in the format of the source', async () => {
    await registerSource(await as(app, 'admin'), { source: 'listed' });
    const event = (id: string) => ({ event_type: 'malware', data: { alert_id: id } });
    const answer = await new WebhookSender(app.client, 'listed').send([event('a'), event('b')]);
    expect([answer.status, answer.body.incidents.length]).toEqual([200, 2]);
  });
});
