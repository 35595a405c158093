import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd, run as sql, startPostgres, startService } from '../../bench/lib/processes.ts';
import type { Json, Post } from './tools.ts';

const SECRET = 'the-secret-of-all-tools-of-the-week';
const FORMATS = ['generic', 'email_alert', 'endpoint_alert', 'log_alert', 'ocsf'];
export const PASSWORD = 'Nine herons over the harbour';
export const PLAYBOOKS = ['phishing-response', 'malware-containment', 'suspicious-login'] as const;

/** Playbook with a step that cannot be evaluated, so that the failures of the week include this kind. */
const BROKEN_PLAYBOOK = {
  name: 'policy-check',
  auto_run: true,
  triggers: { incident_types: ['policy_violation'] },
  steps: [
    {
      name: 'look_up_absent',
      action: 'lookup_ip',
      parameters: { ip: '{{ incident.fields.absent }}' },
      on_error: 'continue',
    },
  ],
};

/** JSON of an answer. Contract tests check its shape, so it has no type here. */
export type Shown = ReturnType<typeof JSON.parse>;

export interface Answer {
  readonly status: number;
  readonly body: Shown;
}

/** Client of the API with the credentials of one principal. */
export class Caller {
  readonly name: string;
  private readonly url: string;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(name: string, url: string, headers: Readonly<Record<string, string>>) {
    this.name = name;
    this.url = url;
    this.headers = headers;
  }

  /** Sends a text body unchanged, because its bytes are signed. */
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
    return (await this.request('GET', path)).data;
  }

  async request(method: string, path: string, body?: object): Promise<Shown> {
    const answer = await this.ask(method, path, body);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  /** Returns the items of all pages. */
  async list(path: string): Promise<Shown[]> {
    const found: Shown[] = [];
    for (let page = 1; ; page += 1) {
      const more = path.includes('?') ? '&' : '?';
      const { data, meta } = await this.request('GET', `${path}${more}page=${page}&per_page=100`);
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

/** Starts a server that records messages and answers as Slack does. */
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
  /** One user per approval level. */
  readonly people: Readonly<Record<'analyst' | 'senior' | 'manager', Caller>>;
  readonly sources: readonly string[];
  readonly channel: string;
  readonly messages: Message[];
  send(post: Pick<Post, 'source' | 'body'>): Promise<Answer>;
  /** Simulates that an hour passes: releases held messages and makes delivered ones an hour older. */
  passHour(): Promise<void>;
  readonly sandbox: string;
}

/** Starts the built service with all presets and formats as sources, shipped playbooks on auto_run, and one Slack channel. */
export async function startSite(settings: Readonly<Record<string, string>>): Promise<Site> {
  const dist = resolve(process.env['BENCH_DIST'] ?? 'dist');
  const server = await startPostgres(dist);
  const database = await server.createDatabase('its_week');
  const messages: Message[] = [];
  const hook = await startRecorder(messages);
  const { url, headers } = await startService(dist, database, {
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    TRIAGE_PROVIDER: 'rules',
    PUBLIC_URL: 'https://triage.example.com',
    ...settings,
  });
  const admin = new Caller('admin', url, headers);
  const sandbox = await admin.request('POST', '/api/connectors', {
    name: 'sandbox',
    type: 'sandbox',
    config: {},
  });
  const channel = await admin.request('POST', '/api/notification-channels', {
    name: 'soc',
    type: 'slack',
    config: { webhook_url: hook },
  });
  const signatures = await addSources(admin);
  for (const name of PLAYBOOKS)
    await admin.request('PUT', `/api/playbooks/${name}`, { auto_run: true });
  await admin.request('POST', '/api/playbooks', BROKEN_PLAYBOOK);
  return {
    admin,
    people: {
      analyst: await createPerson(admin, url, 'ada', 'analyst'),
      senior: await createPerson(admin, url, 'sam', 'senior'),
      manager: await createPerson(admin, url, 'max', 'manager'),
    },
    sources: [...signatures.keys()],
    channel: channel.data.id,
    messages,
    send: ({ source, body }) => send(url, source, signatures.get(source)!, body),
    sandbox: sandbox.data.id,
    passHour: async () => {
      await waitUntil(async () => {
        // Releases held messages, because messages about approvals that playbooks request are held at first.
        await sql(
          database,
          `update notification_deliveries set held_until = now() where held_until > now()`,
        );
        await sql(
          database,
          `update work set ready = true, due_at = now()
            where kind = 'notification' and not ready and worker is null and due_at < 'infinity'`,
        );
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
    const { data } = await admin.request('POST', '/api/webhooks', body);
    signatures.set(data.source, data.signature);
  }
  return signatures;
}

async function createPerson(
  admin: Caller,
  url: string,
  username: string,
  role: string,
): Promise<Caller> {
  await admin.request('POST', '/api/users', { username, password: PASSWORD, role });
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
  const bare: Record<string, Record<string, string>> = {
    token: { 'x-webhook-token': SECRET },
    basic: { authorization: `Basic ${btoa(`${source}:${SECRET}`)}` },
  };
  const headers = bare[signature] ?? {
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': digest,
  };
  return await new Caller(source, url, headers).ask('POST', `/api/webhooks/${source}`, body);
}

/** Waits until no triage, playbook run or action is in progress. */
export async function waitUntilIdle(admin: Caller): Promise<void> {
  let idleLooks = 0;
  await waitUntil(async () => {
    const lists = [
      'incidents?status=open',
      'playbook-runs?status=running',
      'actions?status=pending',
    ];
    const counts = lists.map(
      async (list) => (await admin.request('GET', `/api/${list}&per_page=1`)).meta.total as number,
    );
    idleLooks = (await Promise.all(counts)).every((count) => count === 0) ? idleLooks + 1 : 0;
    return idleLooks === 3;
  }, 90_000);
}

/** Waits until all pending approvals have expired. */
export async function waitUntilExpired(admin: Caller): Promise<void> {
  const path = '/api/actions?status=pending_approval&per_page=1';
  await waitUntil(async () => (await admin.request('GET', path)).meta.total === 0, 300_000);
}

const TIMEOUT_MS = 20_000;

/** Also returns after the timeout, because the figures must show work that did not end. */
async function waitUntil(isSo: () => Promise<boolean>, timeoutMs = TIMEOUT_MS): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await isSo()) && Date.now() < deadline;) {
    await sleep(100);
  }
}
