import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { acceptHead, AuditWitness } from '../../src/audit/anchor/audit-witness.js';
import { AuditKeys } from '../../src/audit/chain/audit-chain.js';
import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describe('the audit trail over HTTP', () => {
  let app: TestApp;
  let admin: ApiClient;
  let keyId: string;

  beforeAll(async () => {
    app = await startTestApp();
    admin = await as(app, 'admin');
    const answer = await admin.request('POST', '/api/api-keys', {
      body: { name: 'audited', role: 'viewer' },
    });
    keyId = answer.body.data.id;
  });
  afterAll(() => app.close());

  const list = async (query: string) => {
    const answer = await admin.request('GET', `/api/audit?${query}`);
    expect(answer.status).toBe(200);
    return answer.body;
  };

  it('is shown to managers and exported for admins', async () => {
    const [senior, manager] = [await as(app, 'senior'), await as(app, 'manager')];
    for (const path of ['/api/audit', '/api/audit/verify']) {
      expect((await app.request('GET', path)).status).toBe(401);
      expect((await senior.request('GET', path)).status).toBe(403);
      expect((await manager.request('GET', path)).status).toBe(200);
    }
    expect((await manager.request('GET', '/api/audit/export')).status).toBe(403);
    const refused = await manager.request('GET', '/api/audit?action=auth.role_refused');
    expect(refused.body.data.length).toBeGreaterThan(0);
    expect(new Set(refused.body.data.map(({ action }: { action: string }) => action))).toEqual(
      new Set(['auth.role_refused']),
    );
  });

  it('shows entries, with a hash once they are sealed', async () => {
    const before = await list(`subject=api_key:${keyId}`);
    expect(before.meta.total).toBe(1);
    let [entry] = before.data;
    while (entry.hash === undefined) {
      await sleep(100);
      [entry] = (await list(`subject=api_key:${keyId}`)).data;
    }
    expect(entry).toMatchObject({
      subject: { type: 'api_key', id: keyId },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const same = await list(
      `actor=${encodeURIComponent(entry.actor)}&action=${entry.action}&from=${entry.at}&to=${entry.at}&sort=at`,
    );
    expect(same.data).toContainEqual(entry);
    expect(
      (await list(`to=${new Date(Date.parse(entry.at) - 60_000).toISOString()}`)).meta.total,
    ).toBe(0);
  });

  it('is verified', async () => {
    const { body } = await admin.request('GET', '/api/audit/verify');
    expect(body.data).toMatchObject({ valid: true });
    expect(body.data.checked + body.data.unsealed).toBeGreaterThan(0);
  });

  it.each([
    'sort=actor',
    'action=incident.create',
    'action=Incident.created',
    'action=incident.created,incident.updated',
    'action=',
    'from=yesterday',
    'actor=',
    'per_page=101',
    'who=alice',
    'subject=a&subject=b',
  ])('refuses the query %s with 422', async (query) => {
    expect((await admin.request('GET', `/api/audit?${query}`)).status).toBe(422);
  });
});

describe('the state of the audit trail', () => {
  const ROWS = 'audit_log, audit_seals, audit_chain';
  let app: TestApp;
  let admin: ApiClient;

  beforeAll(async () => {
    app = await startTestApp();
    admin = await as(app, 'admin');
  });
  afterAll(() => app.close());

  const component = async () =>
    (await admin.request('GET', '/api/health/detailed')).body.components.audit;

  const metric = async (name: string): Promise<number> => {
    const { text } = await app.request('GET', '/metrics');
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)![1]);
  };

  async function until(holds: () => Promise<boolean>): Promise<void> {
    for (const end = Date.now() + 60_000; !(await holds()); await sleep(100)) {
      if (Date.now() > end) throw new Error('It never came to hold.');
    }
  }

  /** Everything that was recorded is sealed, and the service has seen it. */
  async function sealed(owner: Client): Promise<void> {
    await until(async () => {
      const { rows } = await owner.query<{ rows: string }>(
        'select count(*) as rows from audit_log',
      );
      return BigInt(rows[0]!.rows) === app.nest.get(AuditWitness).head.seq;
    });
  }

  it('is shown in health and metrics', async () => {
    await until(async () => (await component()).unsealed === 0);
    expect(await component()).toEqual({
      status: 'healthy',
      unsealed: 0,
      oldest_unsealed_seconds: 0,
    });
    expect(await metric('audit_chain_ok')).toBe(1);
    expect(await metric('audit_oldest_unsealed_seconds')).toBe(0);
  });

  it('is unhealthy after the trail was set back, until somebody accepts it', async () => {
    const owner = new Client(app.database.url);
    await owner.connect();
    const tables = ROWS.split(', ');
    await sealed(owner);
    await owner.query('begin isolation level repeatable read');
    for (const table of tables) await owner.query(`create table kept_${table} as table ${table}`);
    await owner.query('commit');
    await admin.request('POST', '/api/api-keys', { body: { name: 'later', role: 'viewer' } });
    await sealed(owner);
    await owner.query('begin');
    for (const table of tables) {
      await owner.query(`alter table ${table} disable trigger user`);
    }
    await owner.query(`truncate ${ROWS}`);
    for (const table of tables) {
      await owner.query(`insert into ${table} select * from kept_${table}`);
      await owner.query(`alter table ${table} enable trigger user`);
    }
    await owner.query('commit');
    await owner.end();

    const verify = async () => (await admin.request('GET', '/api/audit/verify')).body.data;
    expect(await verify()).toMatchObject({ valid: false, head_rewound: true });
    await until(async () => (await component()).message?.includes('accept-head') === true);
    expect((await component()).status).toBe('unhealthy');
    expect((await app.request('GET', '/health')).body.status).toBe('degraded');
    await until(async () => (await metric('audit_chain_ok')) === 0);

    await acceptHead(app.nest.get(DataSource), app.nest.get(AuditKeys), 'a test');
    await until(async () => (await component()).status === 'healthy');
    await until(async () => (await metric('audit_chain_ok')) === 1);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('is unhealthy on every replica after one found a changed entry, until a verification succeeds', async () => {
    const owner = new Client(app.database.url);
    await owner.connect();
    await sealed(owner);
    const change = async (actor: string) => {
      await owner.query('alter table audit_log disable trigger user');
      const { rows } = await owner.query<{ id: string; actor: string }>(
        `update audit_log a set actor = $1 from (select id, actor from audit_log order by id limit 1) o
         where a.id = o.id returning o.actor`,
        [actor],
      );
      await owner.query('alter table audit_log enable trigger user');
      return rows[0]!.actor;
    };
    const before = await change('mallory');
    const { data } = (await admin.request('GET', '/api/audit/verify')).body;
    expect(data).toMatchObject({ valid: false, first_invalid_id: expect.any(String) });
    // As a second replica, and as the same one after a restart.
    const replica = await startTestApp({ database: app.database });
    try {
      const elsewhere = await as(replica, 'admin');
      const status = async () =>
        (await elsewhere.request('GET', '/api/health/detailed')).body.components.audit.status;
      await until(async () => (await status()) === 'unhealthy');
      await change(before);
      const found = (await elsewhere.request('GET', '/api/audit/verify')).body.data;
      expect(found).toMatchObject({ valid: true });
      await until(async () => (await status()) === 'healthy');
      await until(async () => (await component()).status === 'healthy');
    } finally {
      await replica.close();
      await owner.end();
    }
  });
});
