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
  takesAnything,
} from '../support/costly-bodies.js';
import { eventually } from '../support/jobs/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import { registerSource } from '../support/webhook-sender.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const LIMIT = 1_048_576;
const LIMIT_OF_STRANGERS = 16_384;
const LIMIT_OF_RAW_DATA = 262_144;
/** Enough lines to hold the loop for seconds where they are read in one turn, and few enough for a slow machine. */
const LIMIT_OF_LINES = 262_144;
/** What docker/kubernetes/deployment.yaml gives the process. */
const HEAP_MB = 384;

const LONGEST_TURN_MS = 100;
/** From receipt to verdict: some 40 ms on a quiet machine, and half a second before there were bounds. */
const LONGEST_TURN_OF_AN_EVENT_MS = 250;
/** Of events that are read quickly: at most 45 ms on a busy machine, and 150 to 1 400 ms before there were bounds. */
const LONGEST_TURN_OF_A_JUDGEMENT_MS = 130;
/** For the other fields of a body. */
const ROOM_AROUND = 1_024;
const SOURCE = 'costly';
const TRIAGED = 'costly-triaged';
const LINES = 'costly-lines';
const SECRET = 'the-token-of-the-source';
const ANY_ID = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

interface Measured {
  readonly turnMs: number;
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

  async function turnOf({ method, path }: Place, body: string): Promise<number> {
    const headers = { 'content-type': 'application/json', 'x-webhook-token': SECRET };
    await measured();
    const at = path.replace('{source}', SOURCE).replace(/\{\w+\}/g, ANY_ID);
    const { status } = await admin.request(method, at, { body, headers });
    // Refused before it was read, a body shows nothing; a login may be refused for what it says.
    if (!path.startsWith('/log')) expect([401, 403, 415, 429, 503]).not.toContain(status);
    return (await measured()).turnMs;
  }

  /** The garbage of earlier bodies, or code that is compiled, may fall into one of them: it is the median that counts. */
  async function usualTurnOf(place: Place, body: string): Promise<number> {
    const first = await turnOf(place, body);
    if (first <= LONGEST_TURN_MS) return first;
    const turns = [first, await turnOf(place, body), await turnOf(place, body)];
    return turns.toSorted((a, b) => a - b)[1]!;
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

  it('are sent to every operation that takes one', () => {
    const bodies = Object.values(contract.paths).flatMap((item) =>
      Object.values(item).filter(({ requestBody }) => {
        const schema = requestBody?.content['application/json']?.schema;
        return requestBody !== undefined && !takesAnything(schema);
      }),
    );
    const withFields = places.filter(({ where }) => where !== 'the whole body');
    const operations = new Set(withFields.map(({ method, path }) => `${method} ${path}`));
    expect(operations.size).toBe(bodies.length);
    expect(Object.keys(SHAPES).length).toBe(10);
  });

  it.each(Object.keys(SHAPES))('never hold the event loop: %s', async (name) => {
    const slow: string[] = [];
    let worst = { turnMs: 0, at: '' };
    for (const place of places) {
      for (const body of bodiesAt(place, name)) {
        const turnMs = await usualTurnOf(place, body);
        const at = `${place.method} ${place.path}, ${place.where}, ${body.length} bytes: ${Math.round(turnMs)} ms`;
        if (turnMs > worst.turnMs) worst = { turnMs, at };
        if (turnMs > LONGEST_TURN_MS) slow.push(at);
      }
    }
    if (process.env['SHOW_MEASURED']) process.stdout.write(`${name}: ${worst.at}\n`);
    expect(slow).toEqual([]);
  });

  /** From its receipt until it is triaged by the rules, and then with another content as a further report. */
  async function turnOfEvent(body: string): Promise<number> {
    const headers = { 'content-type': 'application/json', 'x-webhook-token': SECRET };
    await measured();
    const { status, body: answer } = await admin.request('POST', `/api/webhooks/${TRIAGED}`, {
      body,
      headers,
    });
    expect(status).toBe(200);
    const runs = async () =>
      (await admin.request('GET', `/api/incidents/${answer.incident_id}/triage`)).body.data;
    await eventually(
      runs,
      (all: { status: string }[]) =>
        all.length > 0 && all.every(({ status: state }) => state === 'completed'),
    );
    return (await measured()).turnMs;
  }

  it.each([
    ...Object.keys(EVENT_SHAPES).map((name) => [name, LONGEST_TURN_OF_AN_EVENT_MS] as const),
    ...Object.keys(JUDGED_SHAPES).map((name) => [name, LONGEST_TURN_OF_A_JUDGEMENT_MS] as const),
  ])('never hold the event loop until an event is judged: %s', async (name, longestMs) => {
    const event = { ...EVENT_SHAPES, ...JUDGED_SHAPES }[name]!(LIMIT - ROOM_AROUND);
    const turns: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const id = `"alert_id":"${name} ${Math.floor(round / 2)}"`;
      const severity = round === 1 ? '"severity":"critical"' : '"severity":"high"';
      const sent = event.replace('"alert_id":"costly"', id).replace('"severity":"high"', severity);
      turns.push(await turnOfEvent(sent));
    }
    if (process.env['SHOW_MEASURED']) {
      process.stdout.write(`${name}: ${turns.map(Math.round).join(', ')} ms\n`);
    }
    expect(turns.toSorted((a, b) => a - b)[1]).toBeLessThan(longestMs);
  });

  describe.each(['generic', 'mapping'])('of lines, read as %s,', (format) => {
    const mapping = {
      items: ['/alerts', ''],
      title: '/title',
      event_id: ['/id', '/data/alert_id'],
    };
    const rules = { format, ...(format === 'mapping' && { mapping }) };

    const turnOfLines = async (body: string): Promise<number> => {
      await registerSource(admin, { source: LINES, secret: SECRET, signature: 'token', ...rules });
      const headers = { 'content-type': 'application/x-ndjson', 'x-webhook-token': SECRET };
      await measured();
      const { status, body: answer } = await admin.request('POST', `/api/webhooks/${LINES}`, {
        body,
        headers,
      });
      expect(status).toBe(202);
      const read = { body, headers: { 'content-type': 'application/x-ndjson' } };
      const preview = await admin.request('POST', `/api/webhooks/${LINES}/preview`, read);
      expect(preview.status).toBe(200);
      // The worker has read the body, too, when its first part is settled.
      await eventually(
        async () =>
          (await admin.request('GET', `/api/webhook-events/${answer.queue_id}`)).body.data,
        ({ incident_ids: ids = [], status: state }) => ids.length > 0 || state !== 'queued',
        60_000,
      );
      const { turnMs } = await measured();
      await admin.request('DELETE', `/api/webhooks/${LINES}`);
      await eventually(
        async () =>
          (await admin.request('GET', `/api/webhook-events/${answer.queue_id}`)).body.data,
        ({ status: state }) => state !== 'queued',
        60_000,
      );
      return turnMs;
    };

    it.each(Object.keys(LINE_SHAPES))(
      'never hold the event loop until they are settled: %s',
      async (name) => {
        const turnMs = await turnOfLines(LINE_SHAPES[name]!(LIMIT_OF_LINES));
        if (process.env['SHOW_MEASURED']) {
          process.stdout.write(`${format}, ${name}: ${Math.round(turnMs)} ms\n`);
        }
        expect(turnMs).toBeLessThan(LONGEST_TURN_OF_AN_EVENT_MS);
      },
      240_000,
    );
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
    if (process.env['SHOW_MEASURED']) {
      process.stdout.write(`memory: ${before.memoryMb} before, ${memoryMb} at most\n`);
    }
    // A buffer for each byte took 96 MB for one of them.
    expect(memoryMb - before.memoryMb).toBeLessThan(150);
    expect((await admin.request('GET', '/live')).status).toBe(200);
  });
});
