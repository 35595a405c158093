import { DataSource } from 'typeorm';
import { ROLES, type Role } from '../../src/platform/access/roles.js';
import type { Answer, ApiClient } from './api-client.js';
import { makeKey, type TestKey } from './principals.js';
import { startTestApp, type TestApp } from './test-app.js';

export type Everybody = Readonly<Record<Role, TestKey>>;

/** Replicas on one database, and an API key of each role. */
export class World {
  readonly clients: Readonly<Record<Role, ApiClient>>;
  readonly names: Readonly<Record<Role, string>>;

  constructor(
    readonly replicas: readonly TestApp[],
    private readonly everybody: Everybody,
  ) {
    this.clients = byRole((role) => everybody[role].client);
    this.names = byRole((role) => everybody[role].name);
  }

  protected static async open(
    settings: Readonly<Record<string, string>>,
    count: number,
  ): Promise<[TestApp[], Everybody]> {
    const apps = [await startTestApp({ settings })];
    const [{ database }] = apps as [TestApp];
    while (apps.length < count) apps.push(await startTestApp({ settings, database }));
    const keys = await Promise.all(ROLES.map((role) => makeKey(apps[0]!, role)));
    return [apps, byRole((role) => keys[ROLES.indexOf(role)]!)];
  }

  get app(): TestApp {
    return this.replicas[0]!;
  }

  get database(): DataSource {
    return this.app.nest.get(DataSource);
  }

  /** Returns a client of the same person for another replica. */
  at(app: TestApp, role: Role): ApiClient {
    return app.client.with({ authorization: `Bearer ${this.everybody[role].key}` });
  }

  async close(): Promise<void> {
    for (const app of [...this.replicas].reverse()) await app.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async incident(fields: object = {}): Promise<string> {
    const body = { incident_type: 'phishing', source: 'test', ...fields };
    const answer = await this.clients.analyst.post('/api/incidents', body);
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body.data.id as string;
  }

  async turnOn(): Promise<Answer> {
    return await this.clients.manager.post('/api/kill-switch/activate', { reason: 'a test' });
  }

  async turnOff(held?: 'discard'): Promise<Answer> {
    const body = { reason: 'over', ...(held && { held }) };
    return await this.clients.manager.post('/api/kill-switch/deactivate', body);
  }
}

function byRole<T>(valueOf: (role: Role) => T): Record<Role, T> {
  return Object.fromEntries(ROLES.map((role) => [role, valueOf(role)])) as Record<Role, T>;
}
