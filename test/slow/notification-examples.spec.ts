import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { signatureHeaders } from '../../src/notifications/channels/webhook/webhook.channel.js';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const EXAMPLES = 'docs/examples/notifications';
const PATH = '/api/notification-channels';
const SECRET = `whsec_${Buffer.alloc(32, 'a secret for tests').toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 'another secret').toString('base64')}`;
const work = mkdtempSync(join(tmpdir(), 'its-examples-'));

interface Example {
  readonly file: string;
  readonly needs?: string;
  readonly command: () => readonly [string, ...string[]];
}

const RECEIVERS: readonly Example[] = [
  { file: 'receive.py', needs: 'python3', command: () => ['python3', `${EXAMPLES}/receive.py`] },
  { file: 'receive.mjs', command: () => [process.execPath, `${EXAMPLES}/receive.mjs`] },
  { file: 'receive.go', needs: 'go', command: () => [built()] },
];

function built(): string {
  const program = join(work, 'receive');
  execFileSync('go', ['build', '-o', program, `${EXAMPLES}/receive.go`]);
  return program;
}

function isThere({ needs }: Example): boolean {
  if (needs === undefined) return true;
  try {
    execFileSync('sh', ['-c', `command -v ${needs}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const runnable = RECEIVERS.filter(isThere);
for (const { file, needs } of RECEIVERS.filter((one) => !isThere(one))) {
  process.stderr.write(`Skipped: the example ${file}, for want of ${needs}.\n`);
}

describe('docs/notifications.md', () => {
  it('shows code that stands in the examples as it is', () => {
    const page = readFileSync('docs/notifications.md', 'utf8');
    const blocks = [...page.matchAll(/```(?:python|js|go)\n([^]*?)```/g)].map(([, code]) => code!);
    const files = RECEIVERS.map(({ file }) => readFileSync(join(EXAMPLES, file), 'utf8'));
    expect(blocks.map((block) => files.findIndex((text) => text.includes(block)))).toEqual([
      0, 1, 2,
    ]);
  });
});

describe('docs/examples/notifications', () => {
  let app: TestApp;
  let admin: ApiClient;

  beforeAll(async () => {
    app = await startTestApp({ settings: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
    admin = await as(app, 'admin');
  });
  afterAll(async () => {
    await app?.close();
    rmSync(work, { recursive: true, force: true });
  });

  describe.each(runnable)('$file', ({ file, command }) => {
    let receiver: ChildProcess;
    let url: string;
    let id: string;
    const lines: string[] = [];
    const change = (body: object) => admin.request('PUT', `${PATH}/${id}`, { body });
    const test = async () =>
      (await admin.request('POST', `${PATH}/${id}/test`)).body.data as { success: boolean };

    beforeAll(async () => {
      const [program, ...args] = command();
      receiver = spawn(program, args, {
        env: { ...process.env, WEBHOOK_SECRET: SECRET, PORT: '0' },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      createInterface({ input: receiver.stdout! }).on('line', (line) => lines.push(line));
      await eventually(
        () => lines.length,
        (n) => n > 0,
      );
      url = /http:\/\/[\d.:]+\//.exec(lines[0]!)![0];
      const body = { name: file, type: 'webhook', config: { url, secret: SECRET } };
      id = (await admin.request('POST', PATH, { body })).body.data.id;
    });
    afterAll(async () => {
      await admin.request('DELETE', `${PATH}/${id}`);
      receiver.kill('SIGKILL');
      await once(receiver, 'exit');
    });

    it('takes what the service signs', async () => {
      const body = { incident_type: 'malware', source: 'edr', title: 'Zürich \u{1f525}' };
      await admin.request('POST', '/api/incidents', { body });
      await eventually(
        () => lines,
        (all) => all.some((line) => line.startsWith('incident.created ')),
      );
      expect(await test()).toMatchObject({ success: true });
    });

    it('takes it while the secret is being changed, and not when the old one has ended', async () => {
      await change({ config: { secret: OTHER_SECRET } });
      expect(await test()).toMatchObject({ success: true });
      await change({ revoke_old_secret: true });
      expect(await test()).toMatchObject({
        success: false,
        message: 'It answered with status 401.',
      });
      await change({ config: { secret: SECRET }, revoke_old_secret: true });
    });

    const event = JSON.stringify({ id: file, type: 'x', timestamp: '', data: {} });
    const post = async (headers: Record<string, string>, body = event) =>
      (await fetch(url, { method: 'POST', headers, body })).status;
    const signed = (at = new Date()) =>
      signatureHeaders(event, { id: file, at, secrets: [SECRET] });

    it('does its work once for an event that comes twice', async () => {
      expect([await post(signed()), await post(signed())]).toEqual([204, 204]);
      expect(lines.filter((line) => line.endsWith(` ${file}`))).toHaveLength(1);
    });

    it('refuses an event whose signature, id, time or body is not what was signed', async () => {
      const headers = signed();
      const signature = headers['webhook-signature']!.replace('v1,', 'v2,');
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
});
