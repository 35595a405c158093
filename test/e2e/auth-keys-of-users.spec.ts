import { DataSource } from 'typeorm';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as, inSession, makeUser, type TestUser } from '../support/principals.js';
import { skipTime } from '../support/skip-time.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** Promised maximum until an end takes effect on every replica. */
const PROMISED_MS = 1_000;

describe('the API keys of a user', () => {
  let app: TestApp;
  let replica: TestApp;
  let admin: ApiClient;

  beforeAll(async () => {
    app = await startTestApp();
    replica = await startTestApp({ database: app.database });
    admin = await as(app, 'admin');
    await makeUser(app, 'admin', 'last-resort');
  });
  afterAll(async () => {
    await replica.close();
    await app.close();
  });

  let made = 0;
  async function keyMadeBy(client: ApiClient): Promise<{ id: string; key: string }> {
    const body = { name: `key ${(made += 1)}`, role: 'admin' };
    const answer = await client.request('POST', '/api/api-keys', { body });
    expect(answer.status).toBe(201);
    return answer.body.data as { id: string; key: string };
  }
  const withKey = (key: string, where = app) =>
    where.client.with({ authorization: `Bearer ${key}` });
  /** A user with a key, and a key that was made with that one; both have been used on both replicas. */
  async function userWithKeys() {
    const user = await makeUser(app, 'admin');
    const first = await keyMadeBy(await inSession(app, user));
    const second = await keyMadeBy(withKey(first.key));
    const keys = [first.key, second.key];
    expect(await statuses(keys)).toEqual([200, 200, 200, 200]);
    return { user, keys, ids: [first.id, second.id] };
  }
  const statuses = async (keys: readonly string[]) => {
    const answers = [app, replica].flatMap((where) =>
      keys.map((key) => withKey(key, where).request('GET', '/api/users')),
    );
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  const audited = (action: string, subject: string) =>
    app.nest
      .get(DataSource)
      .query<{ actor: string; details: Record<string, unknown> }[]>(
        `select actor, details::jsonb as details from audit_log where action = $1 and subject_id = $2`,
        [action, subject],
      );
  const remove = (user: TestUser, query = '', client = admin) =>
    client.request('DELETE', `/api/users/${user.id}${query}`);

  it.each(['', '?keys=revoke'])(
    'end on every replica within a second when the user is deleted with the query %j',
    async (query) => {
      const { user, keys, ids } = await userWithKeys();
      const others = await userWithKeys();
      expect((await remove(user, query)).status).toBe(200);
      // At once where it was asked for.
      for (const key of keys)
        expect((await withKey(key).request('GET', '/api/users')).status).toBe(401);
      skipTime(PROMISED_MS);
      expect(await statuses(keys)).toEqual([401, 401, 401, 401]);
      expect(await statuses(others.keys)).toEqual([200, 200, 200, 200]);
      for (const id of ids) {
        expect(await audited('api_key.revoked', id)).toMatchObject([
          { details: { reason: `${user.name} was deleted` } },
        ]);
        expect((await admin.request('DELETE', `/api/api-keys/${id}`)).status).toBe(404);
      }
      expect(await audited('user.deleted', user.name)).toMatchObject([
        { details: { keys: 'revoke', keys_revoked: 2 } },
      ]);
    },
  );

  it('stay valid, with the keys that they create, if the deletion keeps them', async () => {
    const { user, keys } = await userWithKeys();
    expect((await remove(user, '?keys=keep')).status).toBe(200);
    skipTime(PROMISED_MS);
    expect(await statuses(keys)).toEqual([200, 200, 200, 200]);
    const later = await keyMadeBy(withKey(keys[1]!));
    expect(await statuses([later.key])).toEqual([200, 200]);
    expect(await audited('user.deleted', user.name)).toMatchObject([
      { details: { keys: 'keep', keys_revoked: 0 } },
    ]);
  });

  it('stay valid if the deletion of the user is refused', async () => {
    const { user, keys } = await userWithKeys();
    for (const query of ['?keys=', '?keys=delete', '?keys=keep&keys=revoke', '?key=keep'])
      expect((await remove(user, query)).status).toBe(422);
    skipTime(PROMISED_MS);
    expect(await statuses(keys)).toEqual([200, 200, 200, 200]);
  });

  it('do not work while the user is disabled, and work again afterwards', async () => {
    const { user, keys } = await userWithKeys();
    const enable = async (enabled: boolean) => {
      const answer = await admin.request('PUT', `/api/users/${user.id}`, { body: { enabled } });
      expect(answer.status).toBe(200);
    };
    await enable(false);
    expect((await withKey(keys[0]!).request('GET', '/api/users')).status).toBe(401);
    skipTime(PROMISED_MS);
    expect(await statuses(keys)).toEqual([401, 401, 401, 401]);
    await enable(true);
    skipTime(PROMISED_MS);
    expect(await statuses(keys)).toEqual([200, 200, 200, 200]);
    // Who is deleted while disabled keeps what is to be kept.
    await enable(false);
    expect((await remove(user, '?keys=keep')).status).toBe(200);
    skipTime(PROMISED_MS);
    expect(await statuses(keys)).toEqual([200, 200, 200, 200]);
  });

  it('have at most the current role of the user', async () => {
    const { user, keys } = await userWithKeys();
    const become = async (role: string) => {
      const answer = await admin.request('PUT', `/api/users/${user.id}`, { body: { role } });
      expect(answer.status).toBe(200);
      skipTime(PROMISED_MS);
    };
    await become('analyst');
    expect(await statuses(keys)).toEqual([403, 403, 403, 403]);
    const me = await withKey(keys[1]!).request('GET', '/api/me');
    expect(me.body.data).toMatchObject({ role: 'analyst', approval_level: 'analyst' });
    const back = await withKey(keys[0]!).request('PUT', `/api/users/${user.id}`, {
      body: { role: 'admin' },
    });
    expect(back.status).toBe(403);
    await become('admin');
    expect(await statuses(keys)).toEqual([200, 200, 200, 200]);
    // What is kept after the user is gone does not get it back.
    await become('viewer');
    expect((await remove(user, '?keys=keep')).status).toBe(200);
    skipTime(PROMISED_MS);
    expect(await statuses(keys)).toEqual([403, 403, 403, 403]);
  });

  it('are not created during the deletion of their user', async () => {
    const { user, keys } = await userWithKeys();
    const database = app.nest.get(DataSource);
    const deletion = database.createQueryRunner();
    await deletion.startTransaction();
    await deletion.query('select 1 from users where id = $1 for update', [user.id]);
    const body = { name: 'too late', role: 'admin' };
    const late = withKey(keys[1]!, replica).request('POST', '/api/api-keys', { body });
    await eventually(
      () =>
        database.query<object[]>(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        ),
      (waiting) => waiting.length > 0,
    );
    await deletion.query('update api_keys set revoked_at = now() where owner_id = $1', [user.id]);
    await deletion.query(
      'update users set deleted_at = now(), enabled = false, password_hash = null where id = $1',
      [user.id],
    );
    await deletion.commitTransaction();
    await deletion.release();
    expect((await late).status).toBe(401);
    expect(await database.query(`select 1 from api_keys where name = 'too late'`)).toEqual([]);
  });
});
