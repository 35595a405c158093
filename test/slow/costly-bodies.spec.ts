import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { createKey } from '../../src/auth/credentials.js';
import type { ApiClient } from '../support/api-client.js';
import { EVENT_SHAPES, LIST_SHAPES, PLACES, SHAPES } from '../support/costly-bodies.js';
import { FakeVendor } from '../support/fake-vendor.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import { registerSource } from '../support/webhook-sender.js';
import { createTestDatabase } from '../support/test-database.js';
import { useStarted } from '../support/use-started.js';

const LIMIT = 1_048_576;
/**
 * Maximum length of lists. Costly items of this length would block the event loop for seconds, but a slow machine can
 * still process them.
 */
const LIMIT_OF_LISTS = 131_072;
/** Heap limit in docker/kubernetes/deployment.yaml. */
const HEAP_MB = 384;

/** Bytes that are left for the other fields of a body. */
const ROOM_AROUND = 1_024;
const SOURCE = 'costly';
const TRIAGED = 'costly-triaged';
const LISTS = 'costly-lists';
const SECRET = 'the-token-of-the-source';

describe('Costly bodies', () => {
  afterAll(() => ServiceProcess.endAll());
  const database = useStarted(() => createTestDatabase());
  let service: ServiceProcess;
  let admin: ApiClient;
  const { key } = createKey();

  beforeAll(async () => {
    service = await ServiceProcess.start({
      settings: {
        DATABASE_URL: database.url,
        BOOTSTRAP_ADMIN_API_KEY: key,
        LOG_LEVEL: 'info',
        ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
        TRIAGE_PROVIDER: 'rules',
        NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
      },
    });
    admin = service.client.with({ authorization: `Bearer ${key}` });
    const token = { secret: SECRET, signature: 'token' };
    await registerSource(admin, { source: SOURCE, ...token });
    await registerSource(admin, { source: TRIAGED, ...token, auto_triage: true });
  });

  /** Returns the peak memory of the process so far. It never falls, so tests with more costly bodies come later. */
  function peakMb(): number {
    const status = readFileSync(`/proc/${service.pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1_024;
  }

  /** Sends each byte of the body as a separate chunk, so that the body needs six times as many bytes on the wire. */
  function sendByBytes(path: string, body: string, authorization?: string): Promise<string> {
    return new Promise((done) => {
      let answer = '';
      const socket = connect(service.port, '127.0.0.1');
      socket.on('data', (text) => (answer += text.toString()));
      // If the service rejects the request early, the client may not be able to read the reason.
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

  it('need about their size in memory, even in tiny chunks', async () => {
    const body = `{"incident_type":"other","source":"x","raw_data":{"a":"${'x'.repeat(200_000)}"}}`;
    const before = peakMb();
    const strangers = await Promise.all(
      Array.from({ length: 5 }, () => sendByBytes('/login', body)),
    );
    expect(strangers.filter((line) => line !== '' && !line.includes(' 413 '))).toEqual([]);
    const known = await Promise.all(
      Array.from({ length: 5 }, () => sendByBytes('/api/incidents', body, `Bearer ${key}`)),
    );
    expect(known).toEqual(Array(5).fill('HTTP/1.1 201 Created'));
    // With a buffer for each byte, a single body took 96 MB.
    expect(peakMb() - before).toBeLessThan(150);
    expect((await admin.get('/live')).status).toBe(200);
  });

  it.each(Object.keys(SHAPES))('of the shape "%s" never cause a server error', async (name) => {
    const headers = { 'content-type': 'application/json', 'x-webhook-token': SECRET };
    const wrong: string[] = [];
    for (const { path, bodyWith, bytes } of PLACES) {
      const body = bodyWith(SHAPES[name]!(bytes - ROOM_AROUND));
      const { status } = await admin.post(path, body, headers);
      // A rejection before the body was read proves nothing. Only a login may be rejected because of its content.
      const isUnread = path !== '/login' && [401, 403, 415, 429].includes(status);
      if (status >= 500 || isUnread) wrong.push(`${path}: ${status}`);
    }
    expect(wrong).toEqual([]);
  });

  it.each(Object.keys(EVENT_SHAPES))('of the shape "%s" are received and triaged', async (name) => {
    const event = EVENT_SHAPES[name]!(LIMIT - ROOM_AROUND);
    const body = event.replace('"alert_id":"costly"', `"alert_id":"${name}"`);
    const headers = { 'content-type': 'application/json', 'x-webhook-token': SECRET };
    const received = await admin.post(`/api/webhooks/${TRIAGED}`, body, headers);
    expect(received.status).toBe(200);
    const runs = `/api/incidents/${received.body.incident_id}/triage`;
    await eventually(
      async () => (await admin.get(runs)).body.data,
      (all: { status: string }[]) =>
        all.length > 0 && all.every(({ status }) => status === 'completed'),
    );
  });

  it.each(Object.keys(LIST_SHAPES))('that are lists of %s are processed', async (name) => {
    const mapping = {
      items: ['/alerts', ''],
      title: '/title',
      event_id: ['/id', '/data/alert_id'],
    };
    const body = LIST_SHAPES[name]!(LIMIT_OF_LISTS);
    for (const rules of [{ format: 'generic' }, { format: 'mapping', mapping }]) {
      await registerSource(admin, { source: LISTS, secret: SECRET, signature: 'token', ...rules });
      const headers = { 'content-type': 'application/json', 'x-webhook-token': SECRET };
      const path = `/api/webhooks/${LISTS}`;
      const received = await admin.post(path, body, headers);
      expect(received.status).toBe(202);
      expect((await admin.post(`${path}/preview`, body, headers)).status).toBe(200);
      const event = async () =>
        (await admin.get(`/api/webhook-events/${received.body.queue_id}`)).body.data;
      await eventually(
        event,
        ({ incident_ids: ids = [], status }) => ids.length > 0 || status !== 'queued',
      );
      await admin.delete(path);
      await eventually(event, ({ status }) => status !== 'queued');
    }
  });

  it('do not crash the process if they are vendor responses that arrive byte by byte', async () => {
    const vendor = await FakeVendor.start();
    const actions = { lookup_ip: { path: '/{{ parameters.ip }}' } };
    const body = { name: 'byte', type: 'http', config: { base_url: vendor.url, actions } };
    expect((await admin.post('/api/connectors', body)).status).toBe(201);
    vendor.behave('byte-by-byte');
    const lookUp = (_: unknown, index: number) =>
      admin.post('/api/actions/execute', {
        action: 'lookup_ip',
        parameters: { ip: `203.0.113.${index}` },
      });
    const answers = await Promise.all(Array.from({ length: 3 }, lookUp));
    // The response of the vendor may come too late, but the process must not end.
    for (const { status } of answers) expect([200, 202]).toContain(status);
    expect((await admin.get('/live')).status).toBe(200);
    await vendor.stop();
  });
});
