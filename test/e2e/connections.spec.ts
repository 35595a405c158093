import { Client } from 'pg';
import { as } from '../support/principals.js';
import { eventually } from '../support/jobs/eventually.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** As the look-up of keys is told by pg_stat_activity. */
const LOOKUPS = `query like '%from api_keys k left join users%'`;

describe('a replica that gets no connection for the look-up of callers', () => {
  let app: TestApp;
  let admin: Client;

  beforeAll(async () => {
    app = await startTestApp();
    admin = new Client({ connectionString: app.database.url });
    await admin.connect();
  });
  afterAll(async () => {
    await admin.end();
    await app.close();
  });
  afterEach(() => allow(-1));

  const allow = async (connections: number): Promise<void> => {
    const name = new URL(app.database.url).pathname.slice(1);
    await admin.query(`alter database ${name} connection limit ${connections}`);
  };
  const sessions = async (condition: string): Promise<number> => {
    const { rows } = await admin.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
    );
    return rows[0]!.n;
  };
  const end = async (condition: string): Promise<void> => {
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
    );
    await eventually(
      () => sessions(condition),
      (count) => count === 0,
    );
  };
  const ready = async () => (await app.request('GET', '/ready')).status;

  it('finds out who calls, and turns the kill switch, on one of the pool', async () => {
    await (await as(app, 'viewer')).request('GET', '/api/me');
    // Keys that have not been used yet: nothing is remembered of them.
    const [viewer, other, manager] = await Promise.all([
      as(app, 'viewer'),
      as(app, 'analyst'),
      as(app, 'admin'),
    ]);
    expect(await sessions(LOOKUPS)).toBeGreaterThan(0);
    await allow(1);
    await end(LOOKUPS);

    const answers = await Promise.all([
      viewer.request('GET', '/api/incidents'),
      other.request('GET', '/api/me'),
      manager.request('POST', '/api/kill-switch/activate', { body: { reason: 'A drill.' } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await ready()).toBe(200);
  });

  it('is not ready when it has no connection at all, and goes on as soon as one is let in', async () => {
    const viewer = await as(app, 'viewer');
    await allow(0);
    await end('true');
    expect((await viewer.request('GET', '/api/me')).status).toBe(503);
    await eventually(ready, (status) => status === 503);
    await allow(-1);
    await eventually(
      async () => (await viewer.request('GET', '/api/me')).status,
      (status) => status === 200,
    );
    await eventually(ready, (status) => status === 200);
  });
});
