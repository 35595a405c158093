import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../../bench/lib/cleanup.ts';
import { run as sql, startPostgres } from '../../bench/lib/postgres.ts';
import { startService } from '../../bench/lib/processes.ts';
import type { Json, Post } from './tools.ts';

const SECRET = 'the-secret-of-all-tools-of-the-week';
const FORMATS = ['generic', 'email_alert', 'endpoint_alert', 'log_alert', 'ocsf'];
const PASSWORD = 'Nine herons over the harbour';
export const PLAYBOOKS = ['phishing-response', 'malware-containment', 'suspicious-login'] as const;

/** Whatever the API answers: what it holds is the contract's business. */
export type Shown = ReturnType<typeof JSON.parse>;

export interface Answer {
  readonly status: number;
  readonly body: Shown;
}

/** Somebody who talks to the service: the admin by a key, people in sessions. */
export class Caller {
  readonly name: string;
  private readonly url: string;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(name: string, url: string, headers: Readonly<Record<string, string>>) {
    this.name = name;
    this.url = url;
    this.headers = headers;
  }

  /** A body that is text is sent as it is: somebody has signed it. */
  async ask(method: string, path: string, body?: object | string): Promise<Answer> {
    const content = typeof body === 'object' ? JSON.stringify(body) : body;
    const type = content === undefined ? undefined : { 'content-type': 'application/json' };
    const answer = await fetch(this.url + path, {
      method,
      headers: { ...this.headers, ...type },
      body: content ?? null,
    });
    const said = await answer.text();
    return { status: answer.status, body: said && JSON.parse(said) };
  }

  async get(path: string): Promise<Shown> {
    return (await this.must('GET', path)).data;
  }

  async must(method: string, path: string, body?: object): Promise<Shown> {
    const answer = await this.ask(method, path, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  /** All pages of a list. */
  async all(path: string): Promise<Shown[]> {
    const found: Shown[] = [];
    for (let page = 1; ; page += 1) {
      const more = path.includes('?') ? '&' : '?';
      const { data, meta } = await this.must('GET', `${path}${more}page=${page}&per_page=100`);
      found.push(...data);
      if (found.length >= (meta?.total ?? 0) || data.length === 0) return found;
    }
  }
}

export interface Message {
  readonly at: number;
  readonly headline: string;
  readonly words: string;
}

/** The place where messages to people arrive, which answers as Slack does. */
async function startRecorder(messages: Message[]): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const message = JSON.parse(body) as {
        readonly text: string;
        readonly blocks: readonly object[];
      };
      const words = message.blocks.flatMap(wordsOf).join('\n');
      messages.push({ at: Date.now(), headline: message.text, words: `${message.text}\n${words}` });
      response.end('ok');
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  atEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/T0/B0/secret`;
}

function wordsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'text' && typeof inner === 'string' ? [inner] : wordsOf(inner),
  );
}

export interface Site {
  readonly admin: Caller;
  /** An analyst, a senior and a manager. */
  readonly people: Readonly<Record<'analyst' | 'senior' | 'manager', Caller>>;
  readonly sources: readonly string[];
  readonly channel: string;
  readonly messages: Message[];
  send(post: Pick<Post, 'source' | 'body'>): Promise<Answer>;
  /** Fields that a request of the running service has: not every release has all. */
  takes(schema: string, field: string): boolean;
  readonly hasAttention: boolean;
  /** Plays an hour: what waits for more of its kind is sent, and lies an hour back then. */
  later(): Promise<void>;
  readonly sandbox: string;
}

/** The built service as a process, with all presets and formats as sources, and set up as a team would. */
export async function startSite(): Promise<Site> {
  const dist = resolve(process.env['BENCH_DIST'] ?? 'dist');
  const server = await startPostgres(dist);
  const database = await server.createDatabase('its_week');
  const messages: Message[] = [];
  const hook = await startRecorder(messages);
  const { url, headers } = await startService(dist, database, {
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    TRIAGE_PROVIDER: 'rules',
    PUBLIC_URL: 'https://triage.example.com',
    // Some days of the week: who does not decide by then does not decide.
    APPROVAL_TTL_MINUTES: '1',
  });
  const admin = new Caller('admin', url, headers);
  const sandbox = await admin.must('POST', '/api/connectors', {
    name: 'sandbox',
    type: 'sandbox',
    config: {},
  });
  const channel = await admin.must('POST', '/api/notification-channels', {
    name: 'soc',
    type: 'slack',
    config: { webhook_url: hook },
  });
  const signatures = await addSources(admin);
  for (const name of PLAYBOOKS)
    await admin.must('PUT', `/api/playbooks/${name}`, { auto_run: true });
  const contract = (await admin.ask('GET', '/openapi.json')).body;
  return {
    admin,
    people: {
      analyst: await person(admin, url, 'ada', 'analyst'),
      senior: await person(admin, url, 'sam', 'senior'),
      manager: await person(admin, url, 'max', 'manager'),
    },
    sources: [...signatures.keys()],
    channel: channel.data.id,
    messages,
    send: ({ source, body }) => send(url, source, signatures.get(source)!, body),
    takes: (schema, field) => field in contract.components.schemas[schema].properties,
    hasAttention: '/api/attention' in contract.paths,
    sandbox: sandbox.data.id,
    later: async () => {
      await sql(
        database,
        `update notification_deliveries set held_until = now() where held_until > now()`,
      );
      await until(async () => {
        const [row] = await sql<{ n: number }>(
          database,
          `select count(*)::int as n from notification_deliveries where status = 'pending'`,
        );
        return row!.n === 0;
      });
      await sql(
        database,
        `update notification_deliveries set occurred_at = occurred_at - interval '1 hour'`,
      );
    },
  };
}

async function addSources(admin: Caller): Promise<Map<string, string>> {
  const presets = ((await admin.get('/api/webhooks/presets')) as { readonly name: string }[]).map(
    ({ name }) => ({
      source: name,
      preset: name,
    }),
  );
  const formats = FORMATS.map((format) => ({ source: format, format }));
  const signatures = new Map<string, string>();
  for (const source of [...presets, ...formats]) {
    const body = { ...source, secret: SECRET, auto_triage: true };
    const { data } = await admin.must('POST', '/api/webhooks', body);
    signatures.set(data.source, data.signature);
  }
  return signatures;
}

async function person(admin: Caller, url: string, username: string, role: string): Promise<Caller> {
  await admin.must('POST', '/api/users', { username, password: PASSWORD, role });
  const answer = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password: PASSWORD }),
  });
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0];
  if (!answer.ok || !cookie) throw new Error(`${username} cannot log in: ${await answer.text()}`);
  return new Caller(username, url, { cookie, 'sec-fetch-site': 'same-origin' });
}

async function send(url: string, source: string, signature: string, event: Json): Promise<Answer> {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signed = signature === 'body' ? body : `${timestamp}.${body}`;
  const digest = `sha256=${createHmac('sha256', SECRET).update(signed).digest('hex')}`;
  const headers: Record<string, string> =
    signature === 'token'
      ? { 'x-webhook-token': SECRET }
      : { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': digest };
  return await new Caller(source, url, headers).ask('POST', `/api/webhooks/${source}`, body);
}

/** Until no triage, no run and no action is under way: what is left waits for people. */
export async function untilQuiet(admin: Caller): Promise<void> {
  let quiet = 0;
  await until(async () => {
    const lists = [
      'incidents?status=open',
      'playbook-runs?status=running',
      'actions?status=pending',
    ];
    const counts = lists.map(
      async (list) => (await admin.must('GET', `/api/${list}&per_page=1`)).meta.total as number,
    );
    quiet = (await Promise.all(counts)).every((count) => count === 0) ? quiet + 1 : 0;
    return quiet === 3;
  });
}

/** Until nothing waits for approval any more: people were reminded, and the time for it is over. */
export async function untilExpired(admin: Caller): Promise<void> {
  const path = '/api/actions?status=pending_approval&per_page=1';
  await until(async () => (await admin.must('GET', path)).meta.total === 0, 120_000);
}

const PATIENCE_MS = 20_000;

/** Or until patience is over: what does not end is in the figures. */
async function until(isSo: () => Promise<boolean>, patienceMs = PATIENCE_MS): Promise<void> {
  for (const deadline = Date.now() + patienceMs; !(await isSo()) && Date.now() < deadline;) {
    await sleep(100);
  }
}
