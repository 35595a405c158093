import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** Longer than the health's answer is shared by those who ask. */
const LONGER_THAN_CACHED_MS = 600;

describe('health of a database that answers reads and refuses writes', () => {
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

  async function look() {
    await sleep(LONGER_THAN_CACHED_MS);
    const [ready, health, live] = await Promise.all(
      ['/ready', '/health', '/live'].map((path) => app.request('GET', path)),
    );
    return {
      ready: [ready!.status, ready!.body.checks?.database],
      health: [health!.status, health!.body.status],
      live: live!.status,
    };
  }

  const expectWell = async () =>
    expect(await look()).toMatchObject({ ready: [200, undefined], live: 200 });

  it('is unhealthy and not ready while the disk is full', async () => {
    await expectWell();
    await admin.query(`
      create function no_space() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`);
    await admin.query(`
      create trigger no_space before insert on write_probe for each row execute function no_space()`);
    try {
      expect(await look()).toEqual({
        ready: [503, 'disk full'],
        health: [503, 'unhealthy'],
        live: 200,
      });
      const viewer = await as(app, 'viewer');
      const { body } = await viewer.request('GET', '/health/detailed');
      expect(body.components.database.message).toMatch(/disk .*is full/);
    } finally {
      await admin.query('drop trigger no_space on write_probe');
    }
    await expectWell();
  });

  it('is unhealthy and not ready while the database is read-only', async () => {
    const database = new URL(app.database.url).pathname.slice(1);
    const newConnections = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`;
    await admin.query(`alter database ${database} set default_transaction_read_only = on`);
    await admin.query(newConnections);
    try {
      expect(await look()).toEqual({
        ready: [503, 'read-only'],
        health: [503, 'unhealthy'],
        live: 200,
      });
    } finally {
      await admin.query(`alter database ${database} reset default_transaction_read_only`);
      await admin.query(newConnections);
    }
    await expectWell();
  });

  it('leaves no rows behind, however often it checks', async () => {
    await admin.query('select probe_writes() from generate_series(1, 20)');
    const { rows } = await admin.query('select count(*)::int as rows from write_probe');
    expect(rows).toEqual([{ rows: 0 }]);
  });
});
