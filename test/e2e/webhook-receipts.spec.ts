import { Logger } from '@nestjs/common';
import { hash } from 'node:crypto';
import { DataSource } from 'typeorm';
import { Statements } from '../../src/platform/database/statements.js';
import { newId } from '../../src/platform/ids.js';
import { readEventJson } from '../../src/webhooks/reading/event-json.js';
import { openBody, type ReadEvent } from '../../src/webhooks/reading/read-events.js';
import { Settlement } from '../../src/webhooks/receipt/settlement.js';
import { WebhookReceipts } from '../../src/webhooks/receipt/webhook-receipts.js';
import { WebhookSourcesService } from '../../src/webhooks/sources/webhook-sources.service.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { registerSource, WebhookSender } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

let nextId = 0;

/** Error of a connection that the database ends. */
const DATABASE_AWAY = Object.assign(new Error('terminating connection'), { code: '57P01' });

/** Returns the number of errors of the source with this code. */
async function errorsOf(app: TestApp, source: string, code: string): Promise<number> {
  const { text } = await app.get('/metrics');
  const start = `webhook_errors_total{source="${source}",code="${code}"} `;
  const line = text.split('\n').find((one) => one.startsWith(start));
  return Number(line?.slice(start.length) ?? 0);
}

function event(more: { severity?: string; details?: object; id?: string } = {}) {
  const { severity = 'high', details = { host: 'web-1' }, id = `alert-${(nextId += 1)}` } = more;
  return {
    event_type: 'malware',
    timestamp: '2026-01-31T09:30:00Z',
    source: 'siem-a',
    data: { alert_id: id, severity, details },
  };
}

describe('a webhook request', () => {
  const app = useStarted(() => startTestApp());
  const admin = useStarted(() => as(app, 'admin'));
  const viewer = useStarted(() => as(app, 'viewer'));
  let siem: WebhookSender;

  afterEach(() => jest.restoreAllMocks());

  beforeAll(async () => {
    await registerSource(admin);
    siem = new WebhookSender(app.client);
  });

  const incidentOf = async (id: string) => (await viewer.get(`/api/incidents/${id}`)).body.data;
  const timelineOf = async (id: string): Promise<{ event: string; summary: string }[]> =>
    (await viewer.get(`/api/incidents/${id}/timeline`)).body.data;
  const events = async (query = ''): Promise<Record<string, unknown>[]> =>
    (await viewer.get(`/api/webhook-events?per_page=100${query}`)).body.data;
  const eventById = async (id: string) => (await viewer.get(`/api/webhook-events/${id}`)).body.data;
  const rows = async (text: string, values: unknown[] = []) => await app.sql(text, values);

  it('looks up earlier events by their keys, even with a query plan that was made for small tables', async () => {
    const statements = jest.spyOn(Statements.prototype, 'rows');
    expect((await siem.send(event())).status).toBe(200);
    await rows(
      `insert into webhook_seen_events (source, event_key, content_hashes, event_id, incident_id)
       select 'early', sha256(n::text::bytea), array[sha256(n::text::bytea)], gen_random_uuid(), gen_random_uuid()
         from generate_series(1, 200) n`,
    );
    await rows('analyze webhook_seen_events');
    const { text } = statements.mock.calls
      .map(([statement]) => statement)
      .find(({ name }) => name === 'webhook_receipts_settle')!;
    const plan = await app.nest
      .get(DataSource)
      .query<{ 'QUERY PLAN': string }[]>(`explain (generic_plan) ${text}`);
    const whole = /Seq Scan on (webhook_seen_events|webhook_events|incidents)\b/;
    const lines = plan.map((row) => row['QUERY PLAN'].trim());
    expect(lines.filter((line) => whole.test(line))).toEqual([]);
  });

  it('creates an incident and an audit record from a new event, and links them in the inbox', async () => {
    const sent = event();
    const answer = await siem.send(sent);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      status: 'accepted',
      incident_id: expect.any(String),
      incident_number: expect.stringMatching(/^INC-\d{4}-\d{4,}$/),
    });
    const { incident_id: id, incident_number } = answer.body;
    expect(await incidentOf(id)).toMatchObject({
      id,
      incident_number,
      incident_type: 'malware',
      severity: 'high',
      status: 'open',
      source: 'siem',
      raw_data: sent,
    });
    expect((await events())[0]).toMatchObject({ status: 'processed', incident_id: id });
    const audit = await rows(
      `select actor, action from audit_log where subject_type = 'incident' and subject_id = $1`,
      [id],
    );
    expect(audit).toEqual([{ actor: 'webhook:siem', action: 'incident.created' }]);
    expect((await timelineOf(id)).map((entry) => entry.event)).toEqual(['created']);
  });

  it('returns the first response to a repeated event and creates nothing', async () => {
    const sent = event();
    const first = await siem.send(sent);
    const again = await siem.send(sent);
    expect(again.status).toBe(200);
    expect(again.body).toEqual({ ...first.body, duplicate: true });
    const [duplicate, original] = await events();
    expect(duplicate).toMatchObject({ status: 'duplicate', duplicate_of: original!.id });
    expect(await timelineOf(first.body.incident_id)).toHaveLength(1);
  });

  it('given two states of each event in one batch → creates incidents of the first states', async () => {
    const source = 'siem';
    const arrivals = ['first', 'later'].flatMap((state) =>
      Array.from({ length: 50 }, (_, n) => {
        const sent = event({ id: `state-${n}`, details: { host: state } });
        const body = Buffer.from(JSON.stringify(sent));
        const [read] = openBody(
          { source, format: 'generic' },
          readEventJson(body),
        ).read() as ReadEvent[];
        const body_hash = hash('sha256', body, 'buffer');
        return {
          arrival: { id: newId(), source, body, body_hash, received_at: new Date() },
          event: read!,
        };
      }),
    );
    const settled = await app.nest.get(WebhookReceipts).settleSingles(arrivals);
    expect(settled.map((one) => one?.outcome)).toEqual([
      ...Array(50).fill('created'),
      ...Array(50).fill(undefined),
    ]);
  });

  it('updates the incident if the same id has other content, and can raise but not lower the severity', async () => {
    const sent = event({ severity: 'medium', id: 'case-7' });
    const first = await siem.send(sent);
    const { incident_id: id } = first.body;
    const worse = await siem.send(event({ severity: 'critical', id: 'case-7' }));
    expect(worse.body).toEqual({ ...first.body, updated: true });
    expect((await incidentOf(id)).severity).toBe('critical');
    const better = await siem.send(event({ severity: 'low', id: 'case-7' }));
    expect(better.body).toEqual({ ...first.body, updated: true });
    expect(await incidentOf(id)).toMatchObject({ severity: 'critical', raw_data: sent });
    expect((await timelineOf(id)).map((entry) => entry.event)).toEqual([
      'created',
      'event_updated',
      'updated',
      'event_updated',
    ]);
    const [latest] = await events();
    expect(latest).toMatchObject({ status: 'updated', incident_id: id });
    expect((await eventById(latest!['id'] as string)).body).toContain('"low"');
    // An event counts as a repetition if any earlier event had the same content.
    expect((await siem.send(sent)).body).toEqual({ ...first.body, duplicate: true });
  });

  it('names the earlier request that it repeats, and stores its bytes if no single earlier request has them', async () => {
    await registerSource(admin, {
      source: 'list',
      format: 'mapping',
      mapping: { items: '', title: '/t', event_id: '/id' },
    });
    const list = new WebhookSender(app.client, 'list');
    const receive = async (body: string) => {
      expect((await list.send(body)).status).toBe(200);
      const [newest] = await events('&source=list');
      return await eventById(newest!['id'] as string);
    };
    const [one, two] = ['{"id":1,"t":"one"}', '{"id":1,"t":"two"}'];
    const first = await receive(one);
    const second = await receive(two);
    const [other, both] = ['{"id":2,"t":"x"}', `[{"id":2,"t":"x"},${one}]`];
    const third = await receive(other);
    for (const [body, repeated, kept] of [
      [one, first, undefined],
      [two, second, undefined],
      [' {"id":1, "t":"two"}', first, ' {"id":1, "t":"two"}'],
      [both, third, both],
      [`[${one},${one}]`, first, `[${one},${one}]`],
    ] as const) {
      const again = await receive(body);
      expect(again).toMatchObject({ status: 'duplicate', duplicate_of: repeated.id });
      expect([body, again.body]).toEqual([body, kept]);
    }
    // Simulates that the row was pruned.
    await rows('delete from webhook_events where id = $1', [third.id]);
    expect((await receive(other)).body).toBe(other);
  });

  it('returns 202 and creates no incident for an empty list of a poller', async () => {
    await registerSource(admin, { source: 'poller', preset: 'proofpoint' });
    const poller = new WebhookSender(app.client, 'poller');
    const lists = { clicksPermitted: [], messagesDelivered: [], messagesBlocked: [] };
    for (const body of [{ queryEndTime: '2026-06-05T10:11:12Z', ...lists }, []]) {
      const answer = await poller.send(body);
      expect([answer.status, answer.body.message]).toEqual([
        202,
        'The body is stored; the incidents of its events follow.',
      ]);
      const kept = await eventById(answer.body.queue_id);
      expect(kept).toMatchObject({ status: 'processed', body: JSON.stringify(body) });
      expect(kept).not.toHaveProperty('incident_id');
    }
    expect(await events('&source=poller&status=failed')).toEqual([]);
    expect((await poller.send({ ...lists, clicksBlocked: [{ other: 1 }] })).status).toBe(422);
    expect((await poller.send({ queryEndTime: '2026-06-05T10:11:12Z' })).status).toBe(422);
    const preview = await admin.post('/api/webhooks/poller/preview', lists);
    expect(preview.body.data).toEqual({ incidents: [] });
  });

  it('is rejected if its event has no known format, is stored once, and is retried on request', async () => {
    await registerSource(admin, { source: 'odd' });
    const odd = new WebhookSender(app.client, 'odd');
    const body = { what: { is: 'this' }, level: 'high', key: 1 };
    const refused = await odd.send(body);
    expect(refused.status).toBe(422);
    const { details } = refused.body.error;
    expect(details.errors).toEqual([expect.objectContaining({ code: 'unknown_format' })]);
    expect((await odd.send(body)).body.error.details.event_id).toBe(details.event_id);
    expect(await events('&source=odd')).toHaveLength(1);
    const shown = await eventById(details.event_id);
    expect(shown).toMatchObject({ status: 'failed', attempts: 2, body: JSON.stringify(body) });

    const analyst = await as(app, 'analyst');
    const replay = () => analyst.post(`/api/webhook-events/${details.event_id}/replay`);
    expect((await replay()).body.data).toMatchObject({ status: 'failed', attempts: 3 });
    await admin.put('/api/webhooks/odd', {
      format: 'mapping',
      mapping: { title: '/what/is', severity: '/level' },
    });
    const replayed = await replay();
    expect(replayed.status).toBe(200);
    expect(replayed.body.data).toMatchObject({ status: 'processed', attempts: 4 });
    expect(await incidentOf(replayed.body.data.incident_id)).toMatchObject({
      title: 'this',
      severity: 'high',
    });
    expect((await replay()).body.error.code).toBe('invalid_state');
    expect((await odd.send(body)).body.duplicate).toBe(true);
  });

  it.each(['new', 'updated', 'duplicate'])(
    'with the bytes of a failed request ends the failed request when it settles as a %s event',
    async (kind) => {
      const source = `healed-${kind}`;
      await registerSource(admin, { source });
      const sender = new WebhookSender(app.client, source);
      const sent = event();
      if (kind === 'duplicate') await sender.send(sent);
      if (kind === 'updated') await sender.send({ ...sent, note: 'earlier' });
      const id = newId();
      await rows(
        `insert into webhook_events (id, source, status, body, body_hash, error, received_at, processed_at)
         values ($1, $2, 'failed', $3, sha256($3), 'a fault', now(), now())`,
        [id, source, Buffer.from(JSON.stringify(sent))],
      );
      const answer = await sender.send(sent);
      expect(answer.status).toBe(200);
      const receipts = (await events(`&source=${source}`)).filter((one) => one['id'] !== id);
      const origin = kind === 'duplicate' ? receipts.at(-1)! : receipts[0]!;
      const ended = await eventById(id);
      expect(ended).toMatchObject({
        status: 'duplicate',
        duplicate_of: origin['id'],
        incident_id: answer.body.incident_id,
      });
      expect([ended.error, ended.body]).toEqual([undefined, undefined]);
    },
  );

  it('gets 202 if the first attempt to settle its event fails, and a worker settles the event', async () => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const receipts = app.nest.get(WebhookReceipts);
    jest.spyOn(receipts, 'settleSingles').mockRejectedValueOnce(new Error('a fault'));
    const answer = await siem.send(event());
    expect(answer.status).toBe(202);
    const settled = await eventually(
      () => eventById(answer.body.queue_id),
      ({ status }) => status !== 'queued',
    );
    expect(settled).toMatchObject({ status: 'processed', incident_id: expect.any(String) });
  });

  it('that fits no format but equals a queued body leaves the body queued and names it', async () => {
    await registerSource(admin, { source: 'twice' });
    const [id, body] = [newId(), '{"what":"is this"}'];
    await rows(
      `insert into webhook_events (id, source, status, body, body_hash, received_at)
       values ($1, 'twice', 'queued', $2, sha256($2), now())`,
      [id, Buffer.from(body)],
    );
    const refused = await new WebhookSender(app.client, 'twice').send(body);
    expect([refused.status, refused.body.error.details.event_id]).toEqual([422, id]);
    expect(await eventById(id)).toMatchObject({ status: 'queued', body });
  });

  it('treats the same event id from two sources as two events', async () => {
    await registerSource(admin, { source: 'stranger' });
    const sent = event();
    const { incident_id } = (await siem.send(sent)).body;
    const { body } = await new WebhookSender(app.client, 'stranger').send(sent);
    expect([body.duplicate, body.incident_id === incident_id]).toEqual([undefined, false]);
  });

  it('keeps every digit and every byte of the body', async () => {
    const deep = `${'['.repeat(100)}1${']'.repeat(100)}`;
    const body = `{"event_type":"malware","timestamp":"2026-01-31T09:30:00Z","source":"x","data":{"alert_id":"exact-1","severity":"low","details":{"n":12345678901234567890,"f":1.10,"nul":"a\\u0000b","half":"\\ud800","deep":${deep},"__proto__":{"x":1}}}}`;
    const answer = await siem.send(body);
    expect(answer.status).toBe(200);
    const { text } = await viewer.get(`/api/incidents/${answer.body.incident_id}`);
    expect(text).toContain('"n":12345678901234567890');
    expect(text).toContain('a\\\\u0000b');
    expect(text).toContain('"__proto__":{"x":1}');
    const [{ body: kept }] = await rows(
      `select body from webhook_events where $1 = any(incident_ids)`,
      [answer.body.incident_id],
    );
    expect((kept as Buffer).toString()).toBe(body);
  });

  it('is accepted if its body is not valid UTF-8, and keeps the bytes', async () => {
    const text = JSON.stringify(event({ details: { host: 'web-?' } }));
    const body = Buffer.from(text.replace('?', '\xff'), 'latin1');
    const answer = await siem.send(body);
    expect(answer.status).toBe(200);
    const { raw_data } = await incidentOf(answer.body.incident_id);
    expect(raw_data.data.details.host).toBe('web-\ufffd');
    const [{ body: kept }] = await rows(
      `select body from webhook_events where $1 = any(incident_ids)`,
      [answer.body.incident_id],
    );
    expect(body.equals(kept as Buffer)).toBe(true);
  });

  it('reports an unknown severity in the timeline', async () => {
    const { body } = await siem.send(event({ severity: 'apocalyptic' }));
    expect((await incidentOf(body.incident_id)).severity).toBe('medium');
    expect(await timelineOf(body.incident_id)).toContainEqual(
      expect.objectContaining({
        event: 'severity_unknown',
        summary: expect.stringContaining('apocalyptic'),
      }),
    );
  });

  it('creates all incidents of a body with several events, or no incident', async () => {
    await registerSource(admin, {
      source: 'many',
      format: 'mapping',
      mapping: { items: '/alerts', title: '/name', severity: '/level', event_id: '/id' },
    });
    const many = new WebhookSender(app.client, 'many');
    const alert = (id: string) => ({ id, name: `alert ${id}`, level: 'low' });
    const first = await many.send({ alerts: [alert('a'), alert('b')] });
    expect(first.body.incidents).toHaveLength(2);
    expect(first.body.incident_id).toBe(first.body.incidents[0].incident_id);
    const mixed = await many.send({ alerts: [alert('b'), alert('c'), alert('c')] });
    expect(mixed.body.duplicate).toBeUndefined();
    expect(mixed.body.incidents.map((one: { duplicate?: boolean }) => one.duplicate)).toEqual([
      true,
      undefined,
      true,
    ]);
    expect(mixed.body.incidents[0].incident_id).toBe(first.body.incidents[1].incident_id);
    expect((await many.send({ alerts: [alert('a'), alert('b')] })).body.duplicate).toBe(true);
    const [{ n }] = await rows(`select count(*)::int as n from incidents where source = 'many'`);
    expect(n).toBe(3);
  });

  it('counts as unavailable for its source during a database outage', async () => {
    const counted = async () => [
      await errorsOf(app, 'siem', 'service_unavailable'),
      await errorsOf(app, 'other', 'service_unavailable'),
    ];
    const [siemBefore, otherBefore] = await counted();
    jest.spyOn(app.nest.get(WebhookReceipts), 'settleSingles').mockRejectedValue(DATABASE_AWAY);
    expect((await siem.send(event())).status).toBe(503);
    expect(await counted()).toEqual([siemBefore! + 1, otherBefore]);
    jest.spyOn(app.nest.get(WebhookSourcesService), 'find').mockRejectedValue(DATABASE_AWAY);
    expect((await new WebhookSender(app.client, 'nobody').send(event())).status).toBe(503);
    expect(await counted()).toEqual([siemBefore! + 1, otherBefore! + 1]);
  });

  it('creates one incident from identical events that arrive concurrently on two replicas', async () => {
    await using other = await startTestApp({ database: app.database });
    const senders = [siem, new WebhookSender(other.client)];
    const twins = Array.from({ length: 4 }, () => event());
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => senders[index % 2]!.send(twins[index % 4])),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.incident_id)).size).toBe(4);
    expect(answers.filter(({ body }) => body.duplicate !== true)).toHaveLength(4);
  });
});

describe('a webhook request under load', () => {
  const app = useStarted(() => startTestApp({ settings: { WEBHOOK_SYNC_LIMIT: '0' } }));
  const viewer = useStarted(() => as(app, 'viewer'));
  let siem: WebhookSender;

  beforeAll(async () => {
    await registerSource(await as(app, 'admin'));
    siem = new WebhookSender(app.client);
  });

  const settled = async (id: string) =>
    await eventually(
      async () => (await viewer.get(`/api/webhook-events/${id}`)).body.data,
      ({ status }) => status !== 'queued',
    );

  it('is stored and gets 202, and its incident is created afterwards', async () => {
    const sent = event();
    const answer = await siem.send(sent);
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      status: 'queued',
      queue_id: expect.any(String),
      message: expect.any(String),
    });
    const done = await settled(answer.body.queue_id);
    expect(done).toMatchObject({ status: 'processed', attempts: 1 });
    const incident = await viewer.get(`/api/incidents/${done.incident_id}`);
    expect(incident.body.data.raw_data).toEqual(sent);
    const again = await siem.send(sent);
    expect(await settled(again.body.queue_id)).toMatchObject({
      status: 'duplicate',
      incident_id: done.incident_id,
      duplicate_of: answer.body.queue_id,
    });
  });

  it('is processed in the order of receipt of its source, even after a crash', async () => {
    const id = newId();
    const state = (severity: string) => {
      const { data, ...rest } = event();
      return { ...rest, data: { ...data, alert_id: id, severity } };
    };
    const settlement = app.nest.get(Settlement);
    const settle = settlement.settle.bind(settlement);
    const quiet = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const allSent = Promise.withResolvers<void>();
    let calls = 0;
    const slow = jest.spyOn(settlement, 'settle').mockImplementation(async (...given) => {
      calls += 1;
      if (calls > 1) return await settle(...given);
      // Waits until other workers could claim the later bodies.
      await allSent.promise;
      throw Object.assign(new Error('terminating connection'), { code: '57P01' });
    });
    const sent = ['low', 'high', 'medium', 'critical'];
    const ids: string[] = [];
    for (const severity of sent) ids.push((await siem.send(state(severity))).body.queue_id);
    allSent.resolve();
    const [first, ...later] = await Promise.all(ids.map(settled));
    slow.mockRestore();
    quiet.mockRestore();
    expect(first.status).toBe('processed');
    expect(later.map(({ status }) => status)).toEqual(['updated', 'updated', 'updated']);
    const at = `/api/incidents/${first.incident_id}`;
    expect((await viewer.get(at)).body.data.raw_data.data.severity).toBe('low');
    const { body } = await viewer.get(`${at}/reports`);
    expect(body.data.map((one: { severity: string }) => one.severity)).toEqual(sent.slice(1));
  });

  it('waits behind the queued bodies of its source, which may contain the same event', async () => {
    const admin = await as(app, 'admin');
    await registerSource(admin, { source: 'behind' });
    await using other = await startTestApp({ database: app.database });
    const [data, id] = [app.nest.get(DataSource), newId()];
    const queue = `insert into webhook_events (id, source, status, body, body_hash, received_at)
         values ($1, 'behind', 'queued', $2, sha256($2), now())`;
    await data.query(queue, [id, Buffer.from(JSON.stringify(event()))]);
    const sender = new WebhookSender(other.client, 'behind');
    const answers = [await sender.send(event()), await sender.send([event(), event()])];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    await Promise.all(answers.map(({ body }) => settled(body.queue_id)));
    expect((await settled(id)).status).toBe('processed');
    expect((await sender.send(event())).status).toBe(200);
  });

  it('is answered without waiting for a worker that settles a queued copy of its body', async () => {
    await registerSource(await as(app, 'admin'), { source: 'again' });
    const [data, id, body] = [app.nest.get(DataSource), newId(), JSON.stringify(event())];
    await data.query(
      `insert into webhook_events (id, source, status, body, body_hash, received_at)
       values ($1, 'again', 'queued', $2, sha256($2), now())`,
      [id, Buffer.from(body)],
    );
    await data.transaction(async (worker) => {
      await worker.query('select from webhook_events where id = $1 for update', [id]);
      const answer = await new WebhookSender(app.client, 'again').send(body);
      expect([answer.status, answer.body.queue_id]).toEqual([202, id]);
    });
    expect((await settled(id)).status).toBe('processed');
  });

  it('is shown, counted and logged as failed if its event has no known format', async () => {
    const counted = () => errorsOf(app, 'siem', 'validation_error');
    const before = await counted();
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    const answer = await siem.send({ nothing: 'known' });
    expect(answer.status).toBe(202);
    expect(await settled(answer.body.queue_id)).toMatchObject({
      status: 'failed',
      error: 'The body fits no known format.',
    });
    expect(await eventually(counted, (n) => n > before)).toBe(before + 1);
    const told = { event: answer.body.queue_id, source: 'siem', code: 'validation_error' };
    expect(warn.mock.calls).toContainEqual([
      told,
      'A queued webhook event failed: The body fits no known format.',
    ]);
    warn.mockRestore();
  });
});
