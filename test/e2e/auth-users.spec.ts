import { DataSource } from 'typeorm';
import type { ApiClient } from '../support/api-client.js';
import { as, makeUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const PASSWORD = 'a long enough password';

describe('the users API', () => {
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

  const create = (body: object) => admin.request('POST', '/api/users', { body });

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
    expect((await admin.request('GET', `/api/users/${id}`)).body).toEqual(made.body);
    const changed = await admin.request('PUT', `/api/users/${id}`, { body: { role: 'senior' } });
    expect(changed.body.data).toMatchObject({ role: 'senior', enabled: true });
    const list = await admin.request('GET', '/api/users?sort=username');
    expect(list.body.meta.total).toBeGreaterThan(0);
    for (const { text } of [made, changed, list]) expect(text).not.toMatch(/argon|hash|password/i);
    const gone = await admin.request('DELETE', `/api/users/${id}`);
    expect(gone.body).toEqual({ data: { id, deleted: true } });
    for (const [method, body] of [['GET'], ['PUT', { role: 'viewer' }], ['DELETE']] as const) {
      const answer = await admin.request(method, `/api/users/${id}`, body && { body });
      expect([answer.status, answer.body.error.message]).toEqual([404, 'User not found.']);
    }
    expect((await create({ username: 'j.doe', password: PASSWORD, role: 'viewer' })).status).toBe(
      409,
    );
    const [row] = await app.nest
      .get(DataSource)
      .query<{ password_hash: string | null }[]>('select * from users where id = $1', [id]);
    expect(row!.password_hash).toBeNull();
  });

  it('keeps the fields that a PUT leaves out', async () => {
    const user = await makeUser(app, 'analyst');
    const put = (body: object) => admin.request('PUT', `/api/users/${user.id}`, { body });
    await put({ enabled: false });
    expect((await put({ role: 'viewer' })).body.data).toMatchObject({
      enabled: false,
      role: 'viewer',
    });
    expect((await put({ enabled: true })).body.data).toMatchObject({
      enabled: true,
      role: 'viewer',
    });
    expect((await put({})).status).toBe(422);
    expect((await put({ username: 'other' })).status).toBe(422);
    expect((await put({ role: null })).status).toBe(422);
  });

  it.each([
    [{ username: 'system' }, 'username'],
    [{ username: 'x' }, 'username'],
    [{ username: 'Upper' }, 'username'],
    [{ username: 'key:x' }, 'username'],
    [{ username: '-x' }, 'username'],
    [{ username: 'x'.repeat(64) }, 'username'],
    [{ username: 'a\n' }, 'username'],
    [{ password: 'only eleven' }, 'password'],
    [{ password: 'x'.repeat(257) }, 'password'],
    [{ password: ['a long enough password'] }, 'password'],
    [{ role: 'superuser' }, 'role'],
    [{ enabled: 'true' }, 'enabled'],
    [{ id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e' }, 'id'],
    [{ password_hash: 'x' }, 'password_hash'],
  ])('answers 422 to a new user with %j and names the field %s', async (wrong, field) => {
    const answer = await create({ username: 'fine', password: PASSWORD, role: 'viewer', ...wrong });
    expect(answer.status).toBe(422);
    expect(answer.body.error.details.errors[0].field).toBe(field);
  });

  it.each(['not-a-uuid', '%00', '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e'])(
    'answers 404 for the id %j',
    async (id) => {
      expect((await admin.request('GET', `/api/users/${id}`)).status).toBe(404);
    },
  );

  it('gives a name to one of many simultaneous requests', async () => {
    const other = await as(replica, 'admin');
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 ? admin : other).request('POST', '/api/users', {
          body: { username: 'contested', password: PASSWORD, role: 'viewer' },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
  });

  describe('with admins', () => {
    const query = (text: string, values: unknown[] = []) =>
      app.nest.get(DataSource).query(text, values);

    it.each<[string, (client: ApiClient, id: string) => ReturnType<ApiClient['request']>]>([
      [
        'demoted',
        (client, id) => client.request('PUT', `/api/users/${id}`, { body: { role: 'manager' } }),
      ],
      [
        'disabled',
        (client, id) => client.request('PUT', `/api/users/${id}`, { body: { enabled: false } }),
      ],
      ['deleted', (client, id) => client.request('DELETE', `/api/users/${id}`)],
    ])('leaves one admin when all are %s at once on two replicas', async (_, remove) => {
      const other = await as(replica, 'admin');
      for (let round = 0; round < 4; round += 1) {
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
    });

    it('changes the password of the last admin, but not the role', async () => {
      await query(`update users set role = 'viewer' where role = 'admin'`);
      const last = await makeUser(app, 'admin');
      const put = (body: object) => admin.request('PUT', `/api/users/${last.id}`, { body });
      expect((await put({ password: PASSWORD })).status).toBe(200);
      expect((await put({ role: 'admin', enabled: true })).status).toBe(200);
      expect((await put({ role: 'viewer', enabled: true })).status).toBe(409);
    });
  });
});
