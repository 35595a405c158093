import { Injectable, Module } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { parse } from 'yaml';
import { operationsOf, type OpenApiDocument } from '../../../scripts/contract/document.js';
import { Transactions } from '../../../src/platform/database/transactions.js';
import { newId } from '../../../src/platform/ids.js';
import { Work } from '../../../src/platform/work/work.js';
import type { RecordedExample, RecordedExamples } from '../../../scripts/contract/examples.js';
import type { Answer } from '../api-client.js';
import { readContract } from '../contract-check-document.js';
import { WebhookReceiver } from '../notifications/webhook-receiver.js';
import { TcpProxy } from '../tcp-proxy.js';
import { startTestApp, type TestApp } from '../test-app.js';
import { Recording } from './recording.js';
import type { Actor, Scene } from './scene.js';
import { UNPLAYED_ERRORS } from './story/errors.js';

const ADMIN_PASSWORD = 'orchid-Kayak7-lantern';
export const METRICS_TOKEN = 'monitor-of-the-story-0123456789';
const SETTINGS = {
  BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
  APPROVAL_FOUR_EYES: 'true',
  TRIAGE_PROVIDER: 'rules',
  ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
  METRICS_TOKEN,
};
const HURRIED = {
  ...SETTINGS,
  ACTION_WAIT_MS: '1',
  WEBHOOK_SYNC_LIMIT: '0',
  ACTION_REPEAT_MINUTES: '60',
};
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const WEBHOOK_SECRET = 'v7Zq-1mC4tXs9bLw2RkE8yHd';

const REPORTS = { name: 'reports', places: 1, mostAttempts: 1 };

@Injectable()
class FailingReports {
  constructor(work: Work) {
    const one = () => Promise.reject(new Error('The mail server did not answer.'));
    work.define({ ...REPORTS, one });
  }
}

@Module({ providers: [FailingReports] })
class ReportsModule {}

/** Plays the story against a new service, and records the responses. */
export class Player {
  private readonly recording = new Recording();
  private readonly sessions = new Map<Actor, string>();
  private readonly kept = new Map<string, string>();
  private readonly operations: Record<string, Record<string, RecordedExample>> = {};
  private readonly errors: Record<string, unknown> = {};
  private readonly places = new Map(
    operationsOf(readContract() as unknown as OpenApiDocument).map(
      ({ operation, method, path }) => [operation.operationId, { method, path }] as const,
    ),
  );

  private constructor(
    readonly app: TestApp,
    private readonly hurried: TestApp,
    private readonly proxy: TcpProxy,
    private readonly receiver: WebhookReceiver,
  ) {}

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<Player> {
    const app = await startTestApp({
      settings: { ...SETTINGS, ...settings },
      modules: [ReportsModule],
    });
    const { proxy, url } = await TcpProxy.before(app.database.url);
    const hurried = await startTestApp({
      settings: { ...HURRIED, ...settings },
      database: { url },
    });
    const player = new Player(app, hurried, proxy, await WebhookReceiver.start());
    player.kept.set('receiver', player.receiver.url);
    const body = { username: 'admin', password: ADMIN_PASSWORD };
    player.keepSession(await app.client.post('/login', body));
    return player;
  }

  /** Returns differences between a response and its scene. */
  async play(scene: Scene): Promise<readonly string[]> {
    this.recording.begin();
    if (scene.before) await this.happen(scene.before);
    for (let patience = 100; ; patience -= 1) {
      const answer = await this.send(scene);
      const problems = problemsOf(scene, answer);
      if (problems.length > 0 && scene.until && patience > 0) {
        await sleep(100);
        continue;
      }
      if (problems.length === 0) this.record(scene, answer);
      return problems;
    }
  }

  recorded(): RecordedExamples {
    const unplayed = Object.entries(UNPLAYED_ERRORS).map(
      ([code, { message, ...more }]) =>
        [code, { error: { code, message, request_id: '', ...more } }] as const,
    );
    const errors = { ...this.errors, ...Object.fromEntries(unplayed) };
    return { operations: this.operations, errors: this.recording.normalised(errors) } as never;
  }

  async close(): Promise<void> {
    await this.proxy.close();
    await this.hurried.close();
    await this.app.close();
    await this.receiver.stop();
  }

  private async send(scene: Scene): Promise<Answer> {
    const { by, operation } = scene;
    const { method, path } = this.places.get(operation)!;
    const { path: inPath = {}, query, headers, body } = this.real(scene);
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => inPath[name] ?? '');
    const address = query ? `${filled}?${new URLSearchParams(query).toString()}` : filled;
    const app = scene.hurried ? this.hurried : this.app;
    const client = app.client.with(this.headersOf(by));
    if (operation !== 'receiveWebhook') {
      const answer = await client.request(method, address, { body, headers: { ...headers } });
      if (operation === 'logIn') this.keepSession(answer);
      return answer;
    }
    const text = JSON.stringify(body);
    const type = { 'content-type': 'application/json' };
    return await client.request(method, address, {
      body: text,
      headers: { ...type, ...signatureOf(text, headers?.['x-webhook-timestamp']), ...headers },
    });
  }

  /** Returns the request of a scene. The kept values replace their names. */
  private real({
    path,
    query,
    headers,
    body,
  }: Scene): Pick<Scene, 'path' | 'query' | 'headers' | 'body'> {
    const text = JSON.stringify({ path, query, headers, body });
    const filled = text.replace(/\{(\w+)\}/g, (all, name: string) => this.kept.get(name) ?? all);
    return JSON.parse(filled) as Scene;
  }

  private headersOf(actor: Actor): Record<string, string> {
    if (actor === 'monitor') return { authorization: `Bearer ${METRICS_TOKEN}` };
    const cookie = this.sessions.get(actor);
    const session: Record<string, string> =
      cookie === undefined ? {} : { cookie, 'sec-fetch-site': 'same-origin' };
    return { 'user-agent': BROWSER, ...session };
  }

  /** Keeps only the first session of each person. A second session is one on another machine. */
  private keepSession({ status, headers, body }: Answer): void {
    if (status !== 200) return;
    const { data } = body as { data: { principal: { name: Actor } } };
    const cookie = String(headers['set-cookie']).split(';')[0]!;
    if (!this.sessions.has(data.principal.name)) this.sessions.set(data.principal.name, cookie);
  }

  private async happen(event: NonNullable<Scene['before']>): Promise<void> {
    if (event === 'the database goes away') return await this.proxy.close();
    if (event === 'a job fails') {
      const work = this.app.nest.get(Work);
      const report = { ref: newId() };
      return await this.app.nest.get(Transactions).run((tx) => work.add(tx, REPORTS, report));
    }
    await this.app.nest.get(DataSource).query(
      `with ended as (delete from work where kind = 'notification')
       update notification_deliveries set status = 'dead', attempts = 31, ended_at = now(),
         last_error = 'The receiver answered with status 503.'`,
    );
  }

  private record(scene: Scene, answer: Answer): void {
    const { operation, named, summary = '', status, code, media, body, keeps = {} } = scene;
    for (const [name, pointer] of Object.entries(keeps)) {
      this.kept.set(name, String(valueAt(answer.body, pointer)));
    }
    if (code) this.errors[code] ??= this.recording.normalised(answer.body);
    if (!named) return;
    const cases = (this.operations[operation] ??= {});
    const shown = excerptOf(scene, answer);
    const isNew =
      shown !== undefined && !Object.values(cases).some((one) => saysSame(one, scene, shown));
    cases[named] = {
      summary,
      status,
      ...(media && { media }),
      ...(body !== undefined && { body: this.recording.normalised(this.real(scene).body) }),
      ...(isNew && { answer: this.recording.normalised(shown) }),
    };
  }
}

/** True if another example has the same status, media type and outcome. */
function saysSame(one: RecordedExample, { status, media }: Scene, answer: unknown): boolean {
  const outcomeOf = (value: unknown) =>
    (value as { data?: { status?: unknown } } | undefined)?.data?.status;
  const isSameKind = one.status === status && one.media === media && one.answer !== undefined;
  return isSameKind && outcomeOf(one.answer) === outcomeOf(answer);
}

function problemsOf({ status, code, until = {} }: Scene, answer: Answer): string[] {
  if (answer.status !== status) return [`answers ${answer.status}: ${answer.text.slice(0, 300)}`];
  const { error } = answer.body as { error?: { code: string } };
  if (error?.code !== code) return [`is the error ${error?.code}`];
  return Object.entries(until)
    .filter(([pointer, value]) => valueAt(answer.body, pointer) !== value)
    .map(([pointer, value]) => `${pointer} is not ${String(value)}`);
}

function valueAt(body: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce((at: unknown, step) => (at as Record<string, unknown> | undefined)?.[step], body);
}

/** Returns the part of the response that the contract shows. Returns nothing for a page for people. */
function excerptOf({ excerpt = {} }: Scene, { headers, body, text }: Answer): unknown {
  if (/html/.test(headers['content-type'] ?? 'html')) return undefined;
  const { items, members, lines } = excerpt;
  if (lines) return linesOf(text, lines);
  if (members) return membersOf(typeof body === 'string' ? parse(body) : body, members);
  if (!items) return body;
  const { data } = body as { data: { name: string }[] };
  return { data: data.filter(({ name }) => items.includes(name)) };
}

/** For each kind, the first line that matches the pattern. */
function linesOf(text: string, pattern: RegExp): string {
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const kind = pattern.exec(line)?.[0];
    if (kind && !found.has(kind)) found.set(kind, line);
  }
  return [...found.values()].map((line) => `${line}\n`).join('');
}

function membersOf(document: Record<string, unknown>, names: readonly string[]): unknown {
  const part = names.map((name) => [name, document[name]] as const);
  return Object.fromEntries(
    part.map(([name, value]) => {
      const { title } = (value ?? {}) as { title?: string };
      return [name, title ? { title } : value];
    }),
  );
}

let deliveries = 0;

/**
 * Signs a text. Each delivery has another timestamp, one second from the last, so that no two have the same signature.
 */
function signatureOf(text: string, given?: string): Record<string, string> {
  deliveries += 1;
  const timestamp = given ?? String(Math.floor(Date.now() / 1000) - deliveries);
  const digest = createHmac('sha256', WEBHOOK_SECRET).update(`${timestamp}.${text}`).digest('hex');
  return { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': `sha256=${digest}` };
}
