import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { examples } from '../../../src/app.examples.js';
import type { OperationExample } from '../../../src/platform/openapi/operation-examples.js';
import { operationsOf, type OpenApiDocument } from '../../../scripts/contract/document.js';
import type { Answer, ApiClient } from '../api-client.js';
import { readContract } from '../contract-check-document.js';
import { startTestApp, type TestApp } from '../test-app.js';
import { Cast, differences, missingLines } from './same-as-shown.js';
import type { Actor, Scene } from './scene.js';

const SETTINGS = {
  BOOTSTRAP_ADMIN_PASSWORD: 'orchid-Kayak7-lantern',
  APPROVAL_FOUR_EYES: 'true',
  TRIAGE_PROVIDER: 'rules',
};
const HURRIED = { ...SETTINGS, ACTION_WAIT_MS: '1', WEBHOOK_SYNC_LIMIT: '0' };
/** As people's sessions show it. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
export const WEBHOOK_SECRET = 'v7Zq-1mC4tXs9bLw2RkE8yHd';

/** A request of the story, with the ids that things have in this performance. */
export interface PlayedRequest extends Partial<OperationExample> {
  readonly operation: string;
  readonly named: string;
  readonly method: string;
  readonly address: string;
  readonly by: Actor;
  readonly app: TestApp;
}

/** Sends a request in the place of the player; undefined leaves it to the player. */
export type Understudy = (request: PlayedRequest) => Promise<Answer | undefined>;

/** Plays the story of the examples against a service that was just started, and compares each answer with what is shown. */
export class Player {
  readonly cast = new Cast();
  readonly sessions = new Map<Actor, string>();
  private readonly places = new Map(
    operationsOf(readContract() as unknown as OpenApiDocument).map(
      ({ operation, method, path }) => [operation.operationId, { method, path }] as const,
    ),
  );

  private constructor(
    readonly app: TestApp,
    private readonly hurried: TestApp,
    private readonly understudy: Understudy | undefined,
  ) {}

  static async start(
    understudy?: (app: TestApp) => Understudy,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Player> {
    const app = await startTestApp({ settings: { ...SETTINGS, ...settings } });
    const hurried = await startTestApp({
      settings: { ...HURRIED, ...settings },
      database: app.database,
    });
    const player = new Player(app, hurried, understudy?.(app));
    await player.logIn('admin', SETTINGS.BOOTSTRAP_ADMIN_PASSWORD);
    return player;
  }

  /** What differs from the example; nothing, when all is as shown. */
  async play(scene: Scene): Promise<readonly string[]> {
    const example = scene.instead ?? examples[scene.operation]?.[scene.named] ?? {};
    for (let patience = 100; ; patience -= 1) {
      const answer = await this.send(scene, example);
      const found = this.compare(scene, example, answer);
      if (found.length === 0 || !scene.patient || patience === 0) return found;
      await sleep(100);
    }
  }

  async close(): Promise<void> {
    await this.hurried.close();
    await this.app.close();
  }

  private async send(scene: Scene, example: Partial<OperationExample>): Promise<Answer> {
    const { method, path } = this.places.get(scene.operation)!;
    const sent = JSON.stringify({ ...example, answer: undefined });
    const real = JSON.parse(this.cast.real(sent)) as Partial<OperationExample>;
    const filled = path.replace(/\{(\w+)\}/g, (__, name: string) => real.path?.[name] ?? '');
    const address = real.query ? `${filled}?${new URLSearchParams(real.query).toString()}` : filled;
    const app = scene.hurried ? this.hurried : this.app;
    const { operation, named, by } = scene;
    const request = { ...real, operation, named, method, address, by, app };
    const answer =
      (scene.instead ? undefined : await this.understudy?.(request)) ?? (await this.ask(request));
    if (operation === 'logIn') this.keepSession(answer);
    return answer;
  }

  private async ask({ app, by, method, address, headers, body, operation }: PlayedRequest) {
    const client: ApiClient = app.client.with(this.headersOf(by));
    if (operation !== 'receiveWebhook') {
      return await client.request(method, address, { body, headers: { ...headers } });
    }
    const text = JSON.stringify(body);
    const type = { 'content-type': 'application/json' };
    return await client.request(method, address, {
      body: text,
      headers: { ...type, ...signedNow(text), ...headers },
    });
  }

  private headersOf(actor: Actor): Record<string, string> {
    const cookie = this.sessions.get(actor);
    const session: Record<string, string> =
      cookie === undefined ? {} : { cookie, 'sec-fetch-site': 'same-origin' };
    return { 'user-agent': BROWSER, ...session };
  }

  private async logIn(username: string, password: string): Promise<void> {
    this.keepSession(
      await this.app.client.request('POST', '/login', { body: { username, password } }),
    );
  }

  /** The first of each person: whoever logs in a second time does so elsewhere. */
  private keepSession({ status, headers, body }: Answer): void {
    if (status !== 200) return;
    const { data } = body as { data: { principal: { name: Actor } } };
    const cookie = String(headers['set-cookie']).split(';')[0]!;
    if (!this.sessions.has(data.principal.name)) this.sessions.set(data.principal.name, cookie);
  }

  private compare(
    { excerpt, instead }: Scene,
    { status = 200, answer }: Partial<OperationExample>,
    real: Answer,
  ): readonly string[] {
    if (real.status !== status) return [`answers ${real.status}: ${real.text.slice(0, 300)}`];
    if (answer === undefined) return [];
    if (typeof answer === 'string') return missingLines(answer, real.text);
    const body: unknown = typeof real.body === 'string' ? parse(real.body) : real.body;
    return differences(answer, body, { cast: this.cast, part: Boolean(excerpt ?? instead) });
  }
}

let deliveries = 0;

/** Each time another second, so that no two deliveries have one signature. */
function signedNow(text: string): Record<string, string> {
  deliveries += 1;
  const timestamp = String(Math.floor(Date.now() / 1000) - deliveries);
  const digest = createHmac('sha256', WEBHOOK_SECRET).update(`${timestamp}.${text}`).digest('hex');
  return { 'x-webhook-timestamp': timestamp, 'x-webhook-signature': `sha256=${digest}` };
}
