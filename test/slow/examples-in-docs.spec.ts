import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer, text } from 'node:stream/consumers';
import { signatureHeaders } from '../../src/notifications/types/webhook.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { registerSource, SENDER_SECRET } from '../support/webhook-sender.js';
import { useStarted } from '../support/use-started.js';

const SENDERS_IN = 'docs/examples/webhooks';
const RECEIVERS_IN = 'docs/examples/notifications';
const CHANNELS = '/api/notification-channels';
const SECRET = `whsec_${Buffer.alloc(32, 'a secret for tests').toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 'another secret').toString('base64')}`;
const work = mkdtempSync(join(tmpdir(), 'its-examples-'));

interface Example {
  readonly file: string;
  readonly needs: readonly string[];
  readonly command: () => readonly string[];
}

const inPython = (folder: string, file: string): Example => ({
  file,
  needs: ['python3'],
  command: () => ['python3', `${folder}/${file}`],
});
const inNode = (folder: string, file: string): Example => ({
  file,
  needs: [],
  command: () => [process.execPath, `${folder}/${file}`],
});
const inGo = (folder: string, file: string): Example => ({
  file,
  needs: ['go'],
  command: () => {
    const program = join(work, basename(file, '.go'));
    if (!existsSync(program)) execFileSync('go', ['build', '-o', program, `${folder}/${file}`]);
    return [program];
  },
});

const RECEIVERS = [
  inPython(RECEIVERS_IN, 'receive.py'),
  inNode(RECEIVERS_IN, 'receive.mjs'),
  inGo(RECEIVERS_IN, 'receive.go'),
];
const SENDERS = [
  inPython(SENDERS_IN, 'send.py'),
  inNode(SENDERS_IN, 'send.mjs'),
  inGo(SENDERS_IN, 'send.go'),
  { file: 'send.sh', needs: ['curl', 'openssl'], command: () => ['sh', `${SENDERS_IN}/send.sh`] },
];

function isThere(tool: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the examples whose toolchain is installed. */
function runnable(examples: readonly Example[]): Example[] {
  return examples.filter(({ file, needs }) => {
    const missing = needs.filter((tool) => !isThere(tool));
    if (missing.length > 0) {
      process.stderr.write(
        `Skipped: the example ${file}, because ${missing.join(', ')} is missing.\n`,
      );
    }
    return missing.length === 0;
  });
}

const app = useStarted(() =>
  startTestApp({ settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } }),
);
const admin = useStarted(() => as(app, 'admin'));
afterAll(async () => {
  rmSync(work, { recursive: true, force: true });
});

describe.each(runnable(RECEIVERS))('docs/examples/notifications/$file', ({ file, command }) => {
  let receiver: ChildProcess;
  let url: string;
  let id: string;
  const lines: string[] = [];
  const change = (body: object) => admin.put(`${CHANNELS}/${id}`, body);
  const test = async () =>
    (await admin.post(`${CHANNELS}/${id}/test`)).body.data as { success: boolean };

  beforeAll(async () => {
    const [program, ...args] = command();
    receiver = spawn(program!, args, {
      env: { ...process.env, WEBHOOK_SECRET: SECRET, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: receiver.stdout! }).on('line', (line) => lines.push(line));
    await eventually(() => lines.length > 0);
    url = /http:\/\/[\d.:]+\//.exec(lines[0]!)![0];
    const body = { name: file, type: 'webhook', config: { url, secret: SECRET } };
    id = (await admin.post(CHANNELS, body)).body.data.id;
  });
  afterAll(async () => {
    await admin.delete(`${CHANNELS}/${id}`);
    receiver.kill('SIGKILL');
    await once(receiver, 'exit');
  });

  it('accepts requests that the service signs', async () => {
    const body = { incident_type: 'malware', source: 'edr', title: 'Zürich \u{1f525}' };
    await admin.post('/api/incidents', body);
    await eventually(() => lines.some((line) => line.startsWith('incident.created ')));
    expect(await test()).toMatchObject({ success: true });
  });

  it('accepts both secrets during a rotation, and rejects the old secret after its expiry', async () => {
    await change({ config: { secret: OTHER_SECRET } });
    expect(await test()).toMatchObject({ success: true });
    await change({ revoke_old_secret: true });
    expect(await test()).toMatchObject({
      success: false,
      message: 'The receiver answered with status 401.',
    });
    await change({ config: { secret: SECRET }, revoke_old_secret: true });
  });

  const event = JSON.stringify({ id: file, type: 'x', timestamp: '', data: {} });
  const post = async (headers: Record<string, string>, body = event) =>
    (await fetch(url, { method: 'POST', headers, body })).status;
  const signed = (at = new Date()) => signatureHeaders(event, { id: file, at, secrets: [SECRET] });

  it('handles a repeated event once', async () => {
    expect([await post(signed()), await post(signed())]).toEqual([204, 204]);
    expect(lines.filter((line) => line.endsWith(` ${file}`))).toHaveLength(1);
  });

  it('rejects an event whose signature, id, time or body was changed', async () => {
    const headers = signed();
    const signature = headers['webhook-signature'].replace('v1,', 'v2,');
    for (const forged of [
      {},
      { ...headers, 'webhook-signature': '' },
      { ...headers, 'webhook-signature': signature },
      { ...headers, 'webhook-id': 'another' },
      { ...headers, 'webhook-timestamp': 'now' },
      signed(new Date(Date.now() - 400_000)),
      signed(new Date(Date.now() + 400_000)),
    ]) {
      expect([forged, await post(forged)]).toEqual([forged, 401]);
    }
    expect(await post(headers, `${event} `)).toBe(401);
  });
});

interface Outcome {
  readonly code: number;
  readonly stdout: string;
}

async function run(example: Example, url: string, body: Buffer, secret = SENDER_SECRET) {
  const [command, ...args] = example.command();
  const child = spawn(command!, args, {
    env: { ...process.env, WEBHOOK_URL: url, WEBHOOK_SECRET: secret },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(body);
  const [stdout, , [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { code, stdout } satisfies Outcome;
}

/**
 * Contains bytes that the strings of a language may change: a carriage return, a line feed at the end, and letters of
 * several bytes.
 */
const event = (id: string, host = 'Zürich-1 \u{1f525}') =>
  Buffer.from(
    `{"event_type":"malware",\r\n"data":{"alert_id":"${id}","severity":"high","details":{"host":"${host}"}}}\n`,
  );

describe('docs/examples/webhooks', () => {
  let url: string;

  beforeAll(async () => {
    await registerSource(admin);
    url = `${app.url}/api/webhooks/siem`;
  });

  describe.each(runnable(SENDERS))('$file', (example) => {
    beforeAll(() => void example.command());

    it('signs events that the service accepts byte for byte, and reports repetitions', async () => {
      const first = await run(example, url, event(example.file));
      expect(first).toEqual({ code: 0, stdout: expect.stringContaining('"accepted"') });
      const again = await run(example, url, event(example.file));
      expect(again).toEqual({ code: 0, stdout: expect.stringContaining('"duplicate":true') });
    });

    it('exits immediately with an error if the secret is wrong', async () => {
      const refused = await run(example, url, event('never'), 'not the secret of this source');
      expect(refused.code).not.toBe(0);
      expect(refused.stdout).toContain('invalid_signature');
    });

    it('sends the same bytes again after Retry-After', async () => {
      const bodies: Buffer[] = [];
      const busy = await listening((body) => {
        bodies.push(body);
        return bodies.length === 1 ? 503 : 200;
      });
      const body = event('later');
      const outcome = await run(example, urlOf(busy), body);
      await closed(busy);
      expect(outcome.code).toBe(0);
      expect(bodies).toEqual([body, body]);
    });
  });

  // The test of send.py is skipped if Python is missing. In CI, Python must be installed.
  (isThere('python3') || process.env['CI'] ? describe : describe.skip)('relay.py', () => {
    const relays: ChildProcess[] = [];
    afterAll(() => relays.forEach((relay) => relay.kill('SIGKILL')));

    /** Starts a relay and returns the address at which it accepts events. */
    async function relayTo(target: string, folder: string, mostWaiting = '100') {
      const relay = spawn('python3', [`${SENDERS_IN}/relay.py`], {
        env: {
          ...process.env,
          WEBHOOK_URL: target,
          WEBHOOK_SECRET: SENDER_SECRET,
          RELAY_FOLDER: folder,
          RELAY_PORT: '0',
          RELAY_MOST_WAITING: mostWaiting,
        },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      relays.push(relay);
      const [said] = (await once(relay.stdout, 'data')) as [Buffer];
      return { at: `http://${/127\.0\.0\.1:\d+/.exec(said.toString())![0]}/`, relay };
    }

    const post = async (at: string, body: Buffer) =>
      (await fetch(at, { method: 'POST', body })).status;
    const titles = async (): Promise<string[]> => {
      const { body } = await admin.get('/api/incidents?per_page=100');
      return body.data.map(({ title }: { title: string }) => title);
    };

    it('keeps accepted events during an outage of the service and its own restart, and delivers them signed', async () => {
      const folder = join(work, 'relay-1');
      const first = await relayTo(await nowhere(), folder);
      expect(await post(first.at, event('relayed', 'relayed-1'))).toBe(202);
      first.relay.kill('SIGKILL');
      await once(first.relay, 'exit');
      expect(readdirSync(join(folder, 'waiting'))).toHaveLength(1);

      const { at } = await relayTo(url, folder);
      expect(await post(at, event('relayed too', 'relayed-2'))).toBe(202);
      const waiting = () => readdirSync(join(folder, 'waiting'));
      await eventually(waiting, (names) => names.length === 0);
      expect(await titles()).toEqual(
        expect.arrayContaining([
          expect.stringContaining('relayed-1'),
          expect.stringContaining('relayed-2'),
        ]),
      );
    });

    it('sets rejected events aside, so that later events arrive', async () => {
      const folder = join(work, 'relay-2');
      const { at } = await relayTo(url, folder);
      expect(await post(at, Buffer.from('no JSON'))).toBe(202);
      expect(await post(at, event('behind', 'relayed-3'))).toBe(202);
      await eventually(titles, (all) => all.some((title) => title.includes('relayed-3')));
      expect(readdirSync(join(folder, 'refused'))).toHaveLength(1);
    });

    it('rejects events if its storage is full', async () => {
      const { at } = await relayTo(await nowhere(), join(work, 'relay-3'), '1');
      expect(await announced(at, { 'content-length': 1024 * 1024 + 1 })).toBe(413);
      expect(await announced(at, { 'transfer-encoding': 'chunked' })).toBe(411);
      expect(await post(at, event('first'))).toBe(202);
      expect(await post(at, event('second'))).toBe(503);
    });
  });
});

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

async function listening(statusOf: (body: Buffer) => number): Promise<Server> {
  const server = createServer((incoming, response) => {
    void buffer(incoming).then((body) =>
      response.writeHead(statusOf(body), { 'retry-after': '1' }).end('{}'),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Returns an address without a listener. */
async function nowhere(): Promise<string> {
  const server = await listening(() => 503);
  const url = urlOf(server);
  await closed(server);
  return url;
}

/** Returns the response to headers whose body never arrives. */
async function announced(url: string, headers: OutgoingHttpHeaders): Promise<number | undefined> {
  const asking = request(url, { method: 'POST', headers });
  asking.flushHeaders();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  asking.destroy();
  return answer.statusCode;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
