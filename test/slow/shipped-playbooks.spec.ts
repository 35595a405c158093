import { DataSource } from 'typeorm';
import {
  ShippedPlaybooks,
  SHIPPED_PLAYBOOKS,
} from '../../src/playbooks/shipped/shipped-playbooks.js';
import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('The shipped playbooks', () => {
  let database: TestDatabase;
  const apps: TestApp[] = [];

  const start = async (): Promise<{ app: TestApp; admin: ApiClient }> => {
    const app = await startTestApp({ database });
    apps.push(app);
    return { app, admin: await as(app, 'admin') };
  };
  const listed = async (client: ApiClient) =>
    (await client.request('GET', '/api/playbooks?sort=name&per_page=100')).body.data;
  const created = async (client: ApiClient) =>
    (await client.request('GET', '/api/audit?action=playbook.created')).body.data;

  beforeEach(async () => {
    database = await createTestDatabase();
  });

  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    await database.drop();
  });

  it('are there after the first start, and none runs by itself', async () => {
    const { admin } = await start();
    const names = SHIPPED_PLAYBOOKS.map(({ name }) => name);
    const playbooks = await listed(admin);
    expect(playbooks.map(({ name }: { name: string }) => name)).toEqual(names.toSorted());
    for (const playbook of playbooks) {
      expect(playbook).toMatchObject({
        version: 1,
        enabled: true,
        auto_run: false,
        trust_verdict: false,
        created_by: 'system',
        description: expect.any(String),
        instructions: expect.any(String),
      });
    }
    expect(await created(admin)).toHaveLength(names.length);
  });

  it('can be sent as they are shown', async () => {
    const { admin } = await start();
    for (const playbook of await listed(admin)) {
      const { id, version, created_by, created_at, updated_by, updated_at, ...body } = playbook;
      const again = await admin.request('PUT', `/api/playbooks/${id}`, { body });
      expect([again.status, again.body.data]).toEqual([
        200,
        { ...body, id, version, created_by, created_at, updated_by, updated_at },
      ]);
    }
  });

  it('stay changed or deleted after another start', async () => {
    const { app, admin } = await start();
    await admin.request('DELETE', '/api/playbooks/phishing-response');
    await admin.request('PUT', '/api/playbooks/suspicious-login', { body: { steps: [] } });
    const before = await listed(admin);
    await app.nest.get(ShippedPlaybooks).onApplicationBootstrap();
    const { admin: next } = await start();
    expect(await listed(next)).toEqual(before);
    expect(before).toHaveLength(SHIPPED_PLAYBOOKS.length - 1);
    for (const { name } of before) await next.request('DELETE', `/api/playbooks/${name}`);
    await app.nest.get(ShippedPlaybooks).onApplicationBootstrap();
    expect(await listed(next)).toEqual([]);
  });

  it('are made once when replicas start for the first time together', async () => {
    const replicas = await Promise.all([start(), start(), start()]);
    expect(await listed(replicas[0].admin)).toHaveLength(SHIPPED_PLAYBOOKS.length);
    expect(await created(replicas[0].admin)).toHaveLength(SHIPPED_PLAYBOOKS.length);
  });

  it('are made all or not at all', async () => {
    const { app } = await start();
    const rows = app.nest.get(DataSource);
    await rows.query('alter table playbook_versions disable trigger user');
    await rows.query('delete from playbook_versions');
    await rows.query('delete from playbooks');
    const last = SHIPPED_PLAYBOOKS.at(-1)!.name;
    await rows.query(`alter table playbooks add constraint none check (name <> '${last}')`);
    await expect(app.nest.get(ShippedPlaybooks).onApplicationBootstrap()).rejects.toThrow(/none/);
    expect(await rows.query('select 1 from playbooks')).toEqual([]);
  });
});
