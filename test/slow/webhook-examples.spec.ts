import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { registerSource, SENDER_SECRET } from '../support/webhook-sender.js';

const EXAMPLES = 'docs/examples/webhooks';
const work = mkdtempSync(join(tmpdir(), 'its-examples-'));

interface Example {
  readonly file: string;
  readonly needs: readonly string[];
  readonly command: () => readonly string[];
}

const SENDERS: readonly Example[] = [
  { file: 'send.py', needs: ['python3'], command: () => ['python3', `${EXAMPLES}/send.py`] },
  { file: 'send.mjs', needs: [], command: () => [process.execPath, `${EXAMPLES}/send.mjs`] },
  { file: 'send.go', needs: ['go'], command: () => [built(`${EXAMPLES}/send.go`)] },
  { file: 'send.sh', needs: ['curl', 'openssl'], command: () => ['sh', `${EXAMPLES}/send.sh`] },
];

let program: string | undefined;

function built(source: string): string {
  if (program === undefined) {
    program = join(work, 'send');
    execFileSync('go', ['build', '-o', program, source]);
  }
  return program;
}

function isThere(tool: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const missing = ({ needs }: Example) => needs.filter((tool) => !isThere(tool));
const runnable = SENDERS.filter((example) => missing(example).length === 0);
for (const example of SENDERS) {
  if (runnable.includes(example)) continue;
  process.stderr.write(
    `Skipped: the example ${example.file}, for want of ${missing(example).join(', ')}.\n`,
  );
}

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

/** Bytes that a language's strings may change: a carriage return, a line feed at the end, and letters of several bytes. */
const event = (id: string, host = 'Zürich-1 \u{1f525}') =>
  Buffer.from(
    `{"event_type":"malware",\r\n"data":{"alert_id":"${id}","severity":"high","details":{"host":"${host}"}}}\n`,
  );

describe('docs/examples/webhooks', () => {
  let app: TestApp;
  let admin: ApiClient;
  let url: string;

  beforeAll(async () => {
    app = await startTestApp();
    admin = await as(app, 'admin');
    await registerSource(admin);
    url = `${app.url}/api/webhooks/siem`;
  });
  afterAll(async () => {
    await app?.close();
    rmSync(work, { recursive: true, force: true });
  });

  describe.each(runnable)('$file', (example) => {
    beforeAll(() => void example.command());

    it('signs what the service accepts, byte for byte, and is told of a repetition', async () => {
      const first = await run(example, url, event(example.file));
      expect(first).toEqual({ code: 0, stdout: expect.stringContaining('"accepted"') });
      const again = await run(example, url, event(example.file));
      expect(again).toEqual({ code: 0, stdout: expect.stringContaining('"duplicate":true') });
    });

    it('ends badly, and at once, when the secret is wrong', async () => {
      const refused = await run(example, url, event('never'), 'not the secret of this source');
      expect(refused.code).not.toBe(0);
      expect(refused.stdout).toContain('invalid_signature');
    });

    it('repeats the same bytes when it is told to come later', async () => {
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

  // Where there is no Python, the line about send.py says so; in CI it has to be there.
  (isThere('python3') || process.env['CI'] ? describe : describe.skip)('relay.py', () => {
    const relays: ChildProcess[] = [];
    afterAll(() => relays.forEach((relay) => relay.kill('SIGKILL')));

    /** The address at which it takes events. */
    async function relayTo(target: string, folder: string, mostWaiting = '100') {
      const relay = spawn('python3', [`${EXAMPLES}/relay.py`], {
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
      const { body } = await admin.request('GET', '/api/incidents?per_page=100');
      return body.data.map(({ title }: { title: string }) => title);
    };

    it('keeps what it took while the service is away, over its own end, and delivers it signed', async () => {
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

    it('sets aside what is refused for its content, so that what comes behind it arrives', async () => {
      const folder = join(work, 'relay-2');
      const { at } = await relayTo(url, folder);
      expect(await post(at, Buffer.from('no JSON'))).toBe(202);
      expect(await post(at, event('behind', 'relayed-3'))).toBe(202);
      await eventually(titles, (all) => all.some((title) => title.includes('relayed-3')));
      expect(readdirSync(join(folder, 'refused'))).toHaveLength(1);
    });

    it('takes no more than it has room for', async () => {
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

/** An address at which nobody is. */
async function nowhere(): Promise<string> {
  const server = await listening(() => 503);
  const url = urlOf(server);
  await closed(server);
  return url;
}

/** The answer to the headers of a body that never comes. */
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
