import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as, makeUser, makeKey } from '../support/principals.js';
import type { TestApp } from '../support/test-app.js';
import { useReplicas, useStarted } from '../support/use-started.js';

const [app, replica] = useReplicas();
const admin = useStarted(() => as(app, 'admin'));

const PASSWORD = 'a long enough password';

describe('the users API', () => {
  const create = (body: object) => admin.post('/api/users', body);

  it('creates, reads, lists, changes and deletes a user, and never shows a hash', async () => {
    const made = await create({ username: 'j.doe', password: PASSWORD, role: 'analyst' });
    expect(made.status).toBe(201);
    const { id } = made.body.data;
    expect(made.body.data).toEqual({
      id,
      username: 'j.doe',
      role: 'analyst',
      enabled: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await admin.get(`/api/users/${id}`)).body).toEqual(made.body);
    const changed = await admin.put(`/api/users/${id}`, { role: 'senior' });
    expect(changed.body.data).toMatchObject({ role: 'senior', enabled: true });
    const list = await admin.get('/api/users?sort=username');
    expect(list.body.meta.total).toBeGreaterThan(0);
    for (const { text } of [made, changed, list]) expect(text).not.toMatch(/argon|hash|password/i);
    expect((await admin.delete(`/api/users/${id}`)).body).toEqual({ data: { id, deleted: true } });
    for (const [method, body] of [['GET'], ['PUT', { role: 'viewer' }], ['DELETE']] as const) {
      const answer = await admin.request(method, `/api/users/${id}`, body && { body });
      expect([answer.status, answer.body.error.message]).toEqual([404, 'User not found.']);
    }
    expect((await create({ username: 'j.doe', password: PASSWORD, role: 'viewer' })).status).toBe(
      409,
    );
    const [row] = await app.sql<{ password_hash: string | null }[]>(
      'select * from users where id = $1',
      [id],
    );
    expect(row!.password_hash).toBeNull();
  });

  it.each([
    [{ username: 'system' }, 'username'],
    [{ password: 'only eleven' }, 'password'],
    [{ password_hash: 'x' }, 'password_hash'],
  ])('rejects a new user with %j with 422, and names the field %s', async (wrong, field) => {
    const answer = await create({ username: 'fine', password: PASSWORD, role: 'viewer', ...wrong });
    expect(answer.status).toBe(422);
    expect(answer.body.error.details.errors[0].field).toBe(field);
  });

  describe('with admins', () => {
    const query = (text: string, values: unknown[] = []) => app.sql(text, values);

    it.each<[string, (client: ApiClient, id: string) => ReturnType<ApiClient['request']>]>([
      ['demoted', (client, id) => client.put(`/api/users/${id}`, { role: 'manager' })],
      ['disabled', (client, id) => client.put(`/api/users/${id}`, { enabled: false })],
      ['deleted', (client, id) => client.delete(`/api/users/${id}`)],
    ])(
      'keeps one admin if simultaneous requests on two replicas try to have all admins %s',
      async (_, remove) => {
        const other = await as(replica, 'admin');
        for (let round = 0; round < 2; round += 1) {
          await query(`update users set role = 'viewer' where role = 'admin'`);
          const admins = [];
          for (let index = 0; index < 4; index += 1) admins.push(await makeUser(app, 'admin'));
          const answers = await Promise.all(
            admins.map(({ id }, index) => remove(index % 2 ? admin : other, id)),
          );
          expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409]);
          const refused = answers.find(({ status }) => status === 409);
          expect(refused!.body.error.code).toBe('invalid_state');
          const [left] = await query(
            `select count(*)::int as admins from users where role = 'admin' and enabled and deleted_at is null`,
          );
          expect(left.admins).toBe(1);
        }
      },
    );

    it('changes the password of the last admin, but not the role', async () => {
      await query(`update users set role = 'viewer' where role = 'admin'`);
      const last = await makeUser(app, 'admin');
      const put = (body: object) => admin.put(`/api/users/${last.id}`, body);
      expect((await put({ password: PASSWORD })).status).toBe(200);
      expect((await put({ role: 'admin', enabled: true })).status).toBe(200);
      expect((await put({ role: 'viewer', enabled: true })).status).toBe(409);
    });
  });
});

describe('/api/api-keys', () => {
  const create = async (body: object) => {
    const answer = await admin.post('/api/api-keys', body);
    expect(answer.status).toBe(201);
    return answer.body.data as { id: string; key: string; prefix: string };
  };
  const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
  const statusOn = async (where: TestApp, key: string) =>
    (await where.request('GET', '/api/api-keys', bearer(key))).status;

  it('shows the key once, and stores only its hash', async () => {
    const answer = await admin.post('/api/api-keys', {
      name: 'once',
      role: 'admin',
      expires_in_days: 30,
      limits: { read: 5, triage: 0 },
    });
    const { key, prefix, expires_at, limits } = answer.body.data;
    expect(key).toMatch(/^its_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}$/);
    expect(key).toContain(`its_${prefix}_`);
    expect(Math.round((Date.parse(expires_at) - Date.now()) / 86_400_000)).toBe(30);
    expect(limits).toEqual({ read: 5, triage: 0 });
    const list = await admin.get('/api/api-keys?sort=name');
    const dump = JSON.stringify(await app.sql('select * from api_keys'));
    const audit = JSON.stringify(await app.sql('select * from audit_log'));
    for (const text of [list.text, dump, audit]) {
      expect(text).toContain(prefix);
      expect(text).not.toContain(key.slice(13));
    }
  });

  it('shows no limits of a key that was created with empty limits', async () => {
    const created = await create({ name: 'empty limits', role: 'viewer', limits: {} });
    expect(created).not.toHaveProperty('limits');
    const { body } = await app.request('GET', '/api/me', bearer(created.key));
    expect(body.data).not.toHaveProperty('limits');
  });

  it('accepts a new key immediately, and rejects the key on every replica after its revocation', async () => {
    const { id, key } = await create({ name: 'busy', role: 'admin' });
    const replicas = [app, replica];
    for (const where of replicas) expect(await statusOn(where, key)).toBe(200);
    const answer = await admin.delete(`/api/api-keys/${id}`);
    expect(answer.body).toEqual({ data: { id, deleted: true } });
    for (const where of replicas) {
      await eventually(async () => (await statusOn(where, key)) === 401);
    }
  });

  it('rejects the name of a revoked key for a new key', async () => {
    const { id } = await create({ name: 'unique', role: 'viewer' });
    const again = { body: { name: 'unique', role: 'viewer' } };
    expect((await admin.request('POST', '/api/api-keys', again)).body.error.code).toBe('conflict');
    await admin.delete(`/api/api-keys/${id}`);
    expect((await admin.request('POST', '/api/api-keys', again)).status).toBe(409);
    expect((await admin.delete(`/api/api-keys/${id}`)).status).toBe(404);
  });

  it('assigns a name to only one of many simultaneous requests', async () => {
    const other = await as(replica, 'admin');
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 ? admin : other).post('/api/api-keys', { name: 'contested', role: 'viewer' }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(11).fill(409)]);
  });

  it.each([
    [{ name: 'x'.repeat(64), role: 'viewer' }, 'name'],
    [{ name: 'r2', role: 'viewer', expires_in_days: 0 }, 'expires_in_days'],
    [{ name: 'r7', role: 'viewer', prefix: 'AAAAAAAA' }, 'prefix'],
  ])('rejects a new key with %j with 422, and names the field %s', async (body, field) => {
    const answer = await admin.post('/api/api-keys', body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details.errors[0].field).toBe(field);
  });

  it('records the last use of a key', async () => {
    const { client, id } = await makeKey(app, 'admin');
    await client.get('/api/api-keys');
    const sql = 'select last_used_at from api_keys where id = $1';
    await eventually(
      () => app.sql<{ last_used_at: Date | null }[]>(sql, [id]),
      ([row]) => row!.last_used_at !== null,
    );
  });
});
