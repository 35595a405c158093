import { eventually } from '../support/jobs/eventually.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { ApiClient } from '../support/api-client.js';
import { as, makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** What is promised for a revocation to hold everywhere; what the tests wait. */
const PROMISED_MS = 1_000;

describe('the API keys', () => {
  let app: TestApp;
  let replica: TestApp;
  let admin: ApiClient;

  beforeAll(async () => {
    app = await startTestApp();
    replica = await startTestApp({ database: app.database });
    admin = await as(app, 'admin');
  });

  afterAll(async () => {
    await replica.close();
    await app.close();
  });

  const create = async (body: object) => {
    const answer = await admin.request('POST', '/api/api-keys', { body });
    expect(answer.status).toBe(201);
    return answer.body.data as { id: string; key: string; prefix: string };
  };
  const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  const statusOn = async (where: TestApp, key: string) =>
    (await where.request('GET', '/api/api-keys', bearer(key))).status;

  it('shows the key once, and stores only its hash', async () => {
    const answer = await admin.request('POST', '/api/api-keys', {
      body: { name: 'once', role: 'admin', expires_in_days: 30, limits: { read: 5, triage: 0 } },
    });
    const { key, prefix, expires_at, limits } = answer.body.data;
    expect(key).toMatch(/^its_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/);
    expect(key).toContain(`its_${prefix}_`);
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.now() + 29 * 86_400_000);
    expect(limits).toEqual({ read: 5, triage: 0 });
    const list = await admin.request('GET', '/api/api-keys?sort=name');
    const dump = JSON.stringify(await app.nest.get(DataSource).query('select * from api_keys'));
    const audit = JSON.stringify(await app.nest.get(DataSource).query('select * from audit_log'));
    for (const text of [list.text, dump, audit]) {
      expect(text).toContain(prefix);
      expect(text).not.toContain(key.slice(13));
    }
  });

  it('shows the key again to a request with the same Idempotency-Key, and stores it encrypted', async () => {
    const ask = () =>
      admin.request('POST', '/api/api-keys', {
        body: { name: 'asked-twice', role: 'viewer' },
        headers: { 'idempotency-key': 'asked-twice' },
      });
    const first = await ask();
    const again = await ask();
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.body).toEqual(first.body);
    expect(await statusOn(replica, again.body.data.key)).toBe(403);
    const kept = JSON.stringify(
      await app.nest.get(DataSource).query('select t::text from idempotency_keys t'),
    );
    expect(kept.length).toBeGreaterThan(100);
    expect(kept).not.toContain(first.body.data.key.slice(13));
  });

  it('accepts a new key at once on every replica', async () => {
    const { key } = await create({ name: 'fresh', role: 'admin' });
    expect(await statusOn(replica, key)).toBe(200);
    expect(await statusOn(app, key)).toBe(200);
  });

  it('refuses a revoked key on every replica a second after the answer', async () => {
    const { id, key } = await create({ name: 'busy', role: 'admin' });
    const replicas = [app, replica];
    for (const where of replicas) expect(await statusOn(where, key)).toBe(200);
    const answer = await admin.request('DELETE', `/api/api-keys/${id}`);
    expect(answer.body).toEqual({ data: { id, deleted: true } });
    await sleep(PROMISED_MS);
    for (const where of replicas) expect(await statusOn(where, key)).toBe(401);
  });

  it('refuses a write when its key was revoked after the request was authenticated', async () => {
    const { id, key } = await create({ name: 'writer', role: 'admin' });
    expect(await statusOn(replica, key)).toBe(200);
    await admin.request('DELETE', `/api/api-keys/${id}`);
    const write = await replica.request('POST', '/api/api-keys', {
      ...bearer(key),
      body: { name: 'made-by-a-ghost', role: 'admin' },
    });
    expect(write.status).toBe(401);
    expect(write.body.error.code).toBe('unauthorized');
  });

  it('refuses a write when the role of its key was lowered after the request was authenticated', async () => {
    const { id, key } = await create({ name: 'demoted', role: 'admin' });
    expect(await statusOn(replica, key)).toBe(200);
    await app.nest.get(DataSource).query(`update api_keys set role = 'viewer' where id = $1`, [id]);
    const write = await replica.request('POST', '/api/api-keys', {
      ...bearer(key),
      body: { name: 'above-its-role', role: 'admin' },
    });
    expect(write.status).toBe(403);
    expect(write.body.error.details).toEqual({ required_role: 'admin' });
  });

  it('rejects the name of a revoked key', async () => {
    const { id } = await create({ name: 'unique', role: 'viewer' });
    const again = { body: { name: 'unique', role: 'viewer' } };
    expect((await admin.request('POST', '/api/api-keys', again)).body.error.code).toBe('conflict');
    await admin.request('DELETE', `/api/api-keys/${id}`);
    expect((await admin.request('POST', '/api/api-keys', again)).status).toBe(409);
    expect((await admin.request('DELETE', `/api/api-keys/${id}`)).status).toBe(404);
  });

  it('gives a name to one of many simultaneous requests', async () => {
    const other = await as(replica, 'admin');
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 ? admin : other).request('POST', '/api/api-keys', {
          body: { name: 'contested', role: 'viewer' },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(11).fill(409)]);
  });

  it.each([
    [{ role: 'viewer' }, 'name'],
    [{ name: 'x'.repeat(64), role: 'viewer' }, 'name'],
    [{ name: ' x', role: 'viewer' }, 'name'],
    [{ name: 'nul\0', role: 'viewer' }, 'name'],
    [{ name: 'r1', role: 'root' }, 'role'],
    [{ name: 'r2', role: 'viewer', expires_in_days: 0 }, 'expires_in_days'],
    [{ name: 'r3', role: 'viewer', expires_in_days: '5' }, 'expires_in_days'],
    [{ name: 'r4', role: 'viewer', limits: [] }, 'limits'],
    [{ name: 'r5', role: 'viewer', limits: { read: -1 } }, 'limits.read'],
    [{ name: 'r6', role: 'viewer', limits: { writes: 1 } }, 'limits.writes'],
    [{ name: 'r8', role: 'viewer', limit_class: 'unlimited' }, 'limit_class'],
    [{ name: 'r7', role: 'viewer', prefix: 'AAAAAAAA' }, 'prefix'],
  ])('answers 422 to a new key with %j and names the field %s', async (body, field) => {
    const answer = await admin.request('POST', '/api/api-keys', { body });
    expect(answer.status).toBe(422);
    expect(answer.body.error.details.errors[0].field).toBe(field);
  });

  it('refuses an expired key', async () => {
    const past = await makeKey(app, 'admin', { expiresAt: new Date(Date.now() - 1) });
    expect((await past.client.request('GET', '/api/api-keys')).status).toBe(401);
    const soon = await makeKey(app, 'admin', { expiresAt: new Date(Date.now() + 60_000) });
    expect((await soon.client.request('GET', '/api/api-keys')).status).toBe(200);
    await app.nest
      .get(DataSource)
      .query('update api_keys set expires_at = now() where id = $1', [soon.id]);
    await eventually(
      async () => (await soon.client.request('GET', '/api/api-keys')).status,
      (status) => status === 401,
    );
  });

  it('records the last use at most once a minute, and not while the request waits', async () => {
    const key = await makeKey(app, 'admin');
    const used = async (id = key.id) =>
      (
        await app.nest
          .get(DataSource)
          .query('select last_used_at from api_keys where id = $1', [id])
      )[0].last_used_at as Date | null;
    await key.client.request('GET', '/api/api-keys');
    const first = await eventually(used, (at) => at !== null);
    await key.client.request('GET', '/api/api-keys');
    const other = await makeKey(app, 'admin');
    await other.client.request('GET', '/api/api-keys');
    await eventually(
      () => used(other.id),
      (at) => at !== null,
    );
    expect(await used()).toEqual(first);
  });

  it('lists the keys by page, in the requested order', async () => {
    const names = async (query: string) =>
      (await admin.request('GET', `/api/api-keys?${query}`)).body.data.map(
        ({ name }: { name: string }) => name,
      ) as string[];
    const all = await names('per_page=100&sort=name');
    expect(all).toEqual([...all].sort());
    expect(await names('per_page=2&page=2&sort=-name')).toEqual(all.toReversed().slice(2, 4));
    expect(await names('page=9999')).toEqual([]);
    expect((await admin.request('GET', '/api/api-keys?sort=secret_hash')).status).toBe(422);
  });
});
