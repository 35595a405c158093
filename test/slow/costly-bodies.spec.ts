import { connect } from 'node:net';
import { resolve } from 'node:path';
import { readFileSync } from 'node:fs';
import { createKey } from '../../src/auth/keys/key-format.js';
import type { ApiClient } from '../support/api-client.js';
import {
  type Contract,
  EVENT_SHAPES,
  JUDGED_SHAPES,
  LINE_SHAPES,
  type Place,
  placesIn,
  SHAPES,
} from '../support/costly-bodies.js';
import { FakeVendor } from '../support/fake-vendor.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import { registerSource } from '../support/webhook-sender.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const LIMIT = 1_048_576;
const LIMIT_OF_STRANGERS = 16_384;
const LIMIT_OF_RAW_DATA = 262_144;
/** Enough lines to hold the loop for seconds where they are read in one turn, and few enough for a slow machine. */
const LIMIT_OF_LINES = 131_072;
/** What docker/kubernetes/deployment.yaml gives the process. */
const HEAP_MB = 384;

/** For the other fields of a body. */
const ROOM_AROUND = 1_024;
const SOURCE = 'costly';
const TRIAGED = 'costly-triaged';
const LINES = 'costly-lines';
const SECRET = 'the-token-of-the-source';
const ANY_ID = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

interface Measured {
  readonly memoryMb: number;
}

describe('Costly bodies', () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let admin: ApiClient;
  const { key } = createKey();

  beforeAll(async () => {
    database = await createTestDatabase();
    const probe = resolve(__dirname, '../support/loop-probe.cjs');
    service = await ServiceProcess.start({
      settings: {
        DATABASE_URL: database.url,
        BOOTSTRAP_ADMIN_API_KEY: key,
        LOG_LEVEL: 'info',
        ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
        TRIAGE_PROVIDER: 'rules',
        NODE_OPTIONS: `--require=${probe} --max-old-space-size=${HEAP_MB}`,
      },
    });
    admin = service.client.with({ authorization: `Bearer ${key}` });
    const token = { secret: SECRET, signature: 'token' };
    await registerSource(admin, { source: SOURCE, ...token });
    await registerSource(admin, { source: TRIAGED, ...token, auto_triage: true });
  });

  afterAll(async () => {
    await ServiceProcess.endAll();
    await database.drop();
  });

  /** Since it was asked the last time. */
  async function measured(): Promise<Measured> {
    const before = service.lines.length;
    service.signal('SIGUSR2');
    for (const end = Date.now() + 60_000; Date.now() < end;) {
      const line = service.lines.slice(before).find((one) => one.startsWith('LOOP '));
      if (line) return JSON.parse(line.slice(5)) as Measured;
      await new Promise((done) => setTimeout(done, 1));
    }
    throw new Error(`The service is busy, or gone:\n${service.lines.slice(-20).join('\n')}`);
  }

  async function statusOf({ method, path }: Place, body: string): Promise<number> {
    const headers = { 'content-type': 'application/json', 'x-webhook-token': SECRET };
    const at = path.replace('{source}', SOURCE).replace(/\{\w+\}/g, ANY_ID);
    return (await admin.request(method, at, { body, headers })).status;
  }

  const contract = JSON.parse(readFileSync('openapi/openapi.json', 'utf8')) as Contract;
  const places = placesIn(contract);

  const made = new Map<string, string>();

  function bodiesAt(place: Place, name: string): string[] {
    const limit = /^\/log(in|out)$/.test(place.path) ? LIMIT_OF_STRANGERS : LIMIT;
    // What is larger than raw data may be is refused, so what is accepted has to be sent too.
    const limits = place.where.startsWith('raw_data') ? [limit, LIMIT_OF_RAW_DATA] : [limit];
    return limits.flatMap((bytes) => {
      const kind = `${name} ${bytes}`;
      const json = made.get(kind) ?? SHAPES[name]!(bytes - ROOM_AROUND);
      made.set(kind, json);
      return place.bodyWith(json) ?? [];
    });
  }

  /** One operation of each kind: what strangers send, a signed receipt, nested raw data, a template, a playbook, a free body. */
  const KINDS = [
    '/login',
    '/api/webhooks/{source}',
    '/api/webhooks/{source}/preview',
    '/api/incidents',
    '/api/connectors',
    '/api/playbooks',
    '/api/actions/execute',
  ];

  it.each(Object.keys(SHAPES))('of the shape "%s" never cause a server error', async (name) => {
    const wrong: string[] = [];
    for (const place of places) {
      if (place.method !== 'POST' || !KINDS.includes(place.path)) continue;
      for (const body of bodiesAt(place, name)) {
        const status = await statusOf(place, body);
        // A refusal before the body was read shows nothing. A login may be refused for its content.
        const isUnread = !place.path.startsWith('/log') && [401, 403, 415, 429].includes(status);
        if (status >= 500 || isUnread) wrong.push(`${place.method} ${place.path}: ${status}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each(Object.keys({ ...EVENT_SHAPES, ...JUDGED_SHAPES }))(
    'of the shape "%s" are received and triaged',
    async (name) => {
      const event = { ...EVENT_SHAPES, ...JUDGED_SHAPES }[name]!(LIMIT - ROOM_AROUND);
      const body = event.replace('"alert_id":"costly"', `"alert_id":"${name}"`);
      const headers = { 'content-type': 'application/json', 'x-webhook-token': SECRET };
      const path = `/api/webhooks/${TRIAGED}`;
      const received = await admin.request('POST', path, { body, headers });
      expect(received.status).toBe(200);
      const runs = `/api/incidents/${received.body.incident_id}/triage`;
      await eventually(
        async () => (await admin.request('GET', runs)).body.data,
        (all: { status: string }[]) =>
          all.length > 0 && all.every(({ status }) => status === 'completed'),
      );
    },
  );

  it.each(Object.keys(LINE_SHAPES))('are settled: %s', async (name) => {
    const mapping = {
      items: ['/alerts', ''],
      title: '/title',
      event_id: ['/id', '/data/alert_id'],
    };
    const body = LINE_SHAPES[name]!(LIMIT_OF_LINES);
    for (const rules of [{ format: 'generic' }, { format: 'mapping', mapping }]) {
      await registerSource(admin, { source: LINES, secret: SECRET, signature: 'token', ...rules });
      const headers = { 'content-type': 'application/x-ndjson', 'x-webhook-token': SECRET };
      const path = `/api/webhooks/${LINES}`;
      const received = await admin.request('POST', path, { body, headers });
      expect(received.status).toBe(202);
      expect((await admin.request('POST', `${path}/preview`, { body, headers })).status).toBe(200);
      const event = async () =>
        (await admin.request('GET', `/api/webhook-events/${received.body.queue_id}`)).body.data;
      await eventually(
        event,
        ({ incident_ids: ids = [], status }) => ids.length > 0 || status !== 'queued',
      );
      await admin.request('DELETE', path);
      await eventually(event, ({ status }) => status !== 'queued');
    }
  });

  it('are survived as answers of a vendor that come byte by byte', async () => {
    const vendor = await FakeVendor.start();
    const actions = { lookup_ip: { path: '/{{ parameters.ip }}' } };
    const config = { base_url: vendor.url, actions };
    const body = { name: 'byte', type: 'http', config };
    expect((await admin.request('POST', '/api/connectors', { body })).status).toBe(201);
    vendor.behave('byte-by-byte');
    const lookUp = (_: unknown, index: number) =>
      admin.request('POST', '/api/actions/execute', {
        body: { action: 'lookup_ip', parameters: { ip: `203.0.113.${index}` } },
      });
    const answers = await Promise.all(Array.from({ length: 3 }, lookUp));
    // The whole answer may come too late; the process must not end either way.
    for (const { status } of answers) expect([200, 202]).toContain(status);
    expect((await admin.request('GET', '/live')).status).toBe(200);
    await vendor.stop();
  });

  /** Each byte of the body is a chunk of its own: six times as much on the wire. */
  function sendByBytes(path: string, body: string, authorization?: string): Promise<string> {
    return new Promise((done) => {
      let answer = '';
      const socket = connect(service.port, '127.0.0.1');
      socket.on('data', (text) => (answer += text.toString()));
      // Who is refused while still sending may not get to read why.
      socket.on('error', () => undefined);
      socket.on('close', () => done(answer.split('\r\n', 1)[0]!));
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n` +
          `${authorization ? `Authorization: ${authorization}\r\n` : ''}Transfer-Encoding: chunked\r\n\r\n`,
      );
      let at = 0;
      const send = (): void => {
        let text = '';
        while (at < body.length && text.length < 60_000) text += `1\r\n${body[at++]}\r\n`;
        if (at === body.length) text += '0\r\n\r\n';
        if (socket.destroyed) return;
        const isSent = socket.write(text);
        if (at === body.length) return;
        if (isSent) setImmediate(send);
        else socket.once('drain', send);
      };
      send();
    });
  }

  it('cost about their size in memory, however small their chunks are', async () => {
    const body = `{"incident_type":"other","source":"x","raw_data":{"a":"${'x'.repeat(200_000)}"}}`;
    const before = await measured();
    const strangers = await Promise.all(
      Array.from({ length: 5 }, () => sendByBytes('/login', body)),
    );
    expect(strangers.filter((line) => line !== '' && !line.includes(' 413 '))).toEqual([]);
    const known = await Promise.all(
      Array.from({ length: 5 }, () => sendByBytes('/api/incidents', body, `Bearer ${key}`)),
    );
    expect(known).toEqual(Array(5).fill('HTTP/1.1 201 Created'));
    const { memoryMb } = await measured();
    // A buffer for each byte took 96 MB for one of them.
    expect(memoryMb - before.memoryMb).toBeLessThan(150);
    expect((await admin.request('GET', '/live')).status).toBe(200);
  });
});
