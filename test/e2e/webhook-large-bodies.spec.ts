import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { newId } from '../../src/platform/ids.js';
import type { WebhookEventStatus } from '../../src/webhooks/events/webhook-event.js';
import { WebhookEventCounts } from '../../src/webhooks/events/webhook-events.service.js';
import { Settlement } from '../../src/webhooks/receipt/settlement.js';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as, makeUser } from '../support/principals.js';
import { RawConnection } from '../support/raw-http.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app?.close());

const MAPPING = { items: '/alerts', title: '/name', severity: '/level', event_id: '/id' };

const TITLE = { title: '/name', severity: '/level', event_id: '/id' };

const alerts = (from: number, count: number, prefix = 'a') =>
  Array.from({ length: count }, (_, n) => ({
    id: `${prefix}-${from + n}`,
    name: `alert ${from + n}`,
    level: 'low',
  }));

describe('bodies of many events', () => {
  let analyst: ApiClient;

  beforeAll(async () => {
    analyst = await as(app, 'analyst');
  });
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

  /** Sends all of a body except its end, at a source that does not exist. */
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
    'from %d connections (%s, %d bytes) leave room for receipts and logins from the same address',
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
      expect((await app.request('POST', '/login', { body })).status).toBe(200);
    },
  );
});

describe('the inbox of webhook events', () => {

interface Item {
  readonly id: string;
  readonly source: string;
  readonly status: WebhookEventStatus;
}

interface Row {
  readonly source?: string;
  readonly status?: WebhookEventStatus;
  readonly body?: Buffer | null;
  readonly incident_ids?: readonly string[];
  readonly duplicate_of?: string;
  readonly error?: string;
  readonly attempts?: number;
  readonly processed_at?: Date;
}

const FIRST = Date.parse('2026-01-31T09:30:00.123Z');
  let viewer: ApiClient;
  let later = 0;

  beforeAll(async () => {
    viewer = await as(app, 'viewer');
  });
  beforeEach(() =>
    app.nest
      .get(DataSource)
      .query('truncate webhook_events, webhook_event_counts, webhook_event_count_deltas'),
  );

  /** A receipt, put straight into the table; each comes a millisecond after the one before. */
  const receive = async (row: Row = {}): Promise<string> => {
    const at = FIRST + (later += 1);
    const id = newId(at);
    await app.nest.get(DataSource).query(
      `insert into webhook_events (id, source, status, body, body_hash, incident_ids, duplicate_of, error, attempts, received_at, processed_at)
       values ($1::uuid, $2, $3, $4, sha256($1::uuid::text::bytea), $5, $6, $7, $8, $9, $10)`,
      [
        id,
        row.source ?? 'email-gateway',
        row.status ?? 'processed',
        row.body ?? null,
        row.incident_ids ?? [],
        row.duplicate_of,
        row.error,
        row.attempts ?? 1,
        new Date(at),
        row.processed_at,
      ],
    );
    return id;
  };
  const read = (id: string) => viewer.request('GET', `/api/webhook-events/${id}`);
  const list = async (query = '') => {
    const answer = await viewer.request('GET', `/api/webhook-events?${query}`);
    expect(answer.status).toBe(200);
    return answer.body as { data: Item[]; meta: { total: number } };
  };

  it('tells what became of an event, and leaves out what it has not', async () => {
    const [incident, other] = [newId(), newId()];
    const processed_at = new Date(FIRST + 5_000);
    const first = await receive({ incident_ids: [incident], processed_at });
    const received_at = new Date(FIRST + later).toISOString();
    expect((await read(first)).body.data).toEqual({
      id: first,
      source: 'email-gateway',
      status: 'processed',
      incident_id: incident,
      attempts: 1,
      received_at,
      processed_at: processed_at.toISOString(),
    });
    const batch = await receive({ incident_ids: [incident, other], processed_at });
    expect((await read(batch)).body.data).toMatchObject({
      incident_id: incident,
      incident_ids: [incident, other],
    });
    const again = await receive({
      status: 'duplicate',
      duplicate_of: first,
      incident_ids: [incident],
    });
    expect((await read(again)).body.data).toMatchObject({
      status: 'duplicate',
      duplicate_of: first,
      incident_id: incident,
    });
    const { data } = await list();
    for (const item of data) expect((await read(item.id)).body.data).toEqual(item);
  });

  it.each([[
      'text with a byte order mark, a NUL and U+FFFF',
      Buffer.from('\ufeff\0\uffff'),
      '\ufeff\0\uffff',
      'utf8',
    ], ['half a surrogate pair', Buffer.from('7b22eda080227d', 'hex'), 'eyLtoIAifQ==', 'base64']])(
    'shows what was sent in an event that failed or waits: %s',
    async (_, body, shown, encoding) => {
      for (const status of ['failed', 'queued'] as const) {
        const error = status === 'failed' ? 'The body fits no format of the source.' : undefined;
        const answer = await read(await receive({ status, body, error, source: status }));
        expect(answer.body.data).toMatchObject({ status, body: shown, body_encoding: encoding });
        expect(answer.body.data.error).toBe(error);
      }
      for (const item of (await list()).data) expect(item).not.toHaveProperty('body');
    },
  );

  it('finds an event by its id in any case, and answers 404 to every other id', async () => {
    const id = await receive();
    expect((await read(id.toUpperCase())).body.data.id).toBe(id);
    for (const unknown of [newId(), '1', 'nothing', `${id}0`, '%00', '__proto__', `'`]) {
      const answer = await read(unknown);
      expect([unknown, answer.status, answer.body.error.code]).toEqual([unknown, 404, 'not_found']);
    }
  });

  it('tells metrics and health how many events wait, and how many failed', async () => {
    for (const status of ['queued', 'failed', 'failed', 'processed'] as const) {
      await receive({ status, source: `s${later}` });
    }
    await app.nest.get(WebhookEventCounts).foldPending();
    await receive({ status: 'queued', source: 'not-folded' });
    // A look of the moment before is shared for a while.
    const gauge = await eventually(
      async () => (await app.request('GET', '/metrics')).text,
      (text) => text.includes('webhook_events{status="queued"} 2\n'),
    );
    expect(gauge).toContain('webhook_events{status="failed"} 2\n');
    expect(gauge).not.toContain('webhook_events{status="processed"}');
    const jobs = { webhook_events_queued: 2, webhook_events_failed: 2 };
    const { body } = await viewer.request('GET', '/api/health/detailed');
    expect(body.components.jobs).toMatchObject({ status: 'healthy', ...jobs });
  });

  it.each(['status=done', 'source=Edr', 'sort=received_at'])('refuses the query %s', async (query) => {
    const answer = await viewer.request('GET', `/api/webhook-events?${query}`);
    expect([query, answer.status]).toEqual([query, query.includes('%ED') ? 400 : 422]);
  });
});
