import { DataSource } from 'typeorm';
import { Credentials } from '../../src/auth/credentials.js';
import { SessionsService } from '../../src/auth/sessions.service.js';
import { ConnectionLostError } from '../../src/platform/database/sqlstate.js';
import { whileHeld } from '../support/actions/held-change.js';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/jobs/eventually.js';
import { as, inSession, logIn, makeUser, type TestUser } from '../support/principals.js';
import type { TestApp } from '../support/test-app.js';
import { useReplicas, useStarted } from '../support/use-started.js';

const now = performance.now.bind(performance);
let skippedMs = 0;

/** Advances the monotonic clock of this process, so that cached values expire. */
function skipTime(ms: number): void {
  skippedMs += ms;
  performance.now = () => now() + skippedMs;
}

/** Maximum delay that the documentation promises until the end of a session takes effect on every replica. */
const PROMISED_MS = 1_000;

const [app, replica] = useReplicas();
const admin = useStarted(() => as(app, 'admin'));

beforeAll(async () => {
  await makeUser(app, 'admin', 'last-resort');
});

const change = async (user: TestUser, body: object) => {
  expect((await admin.put(`/api/users/${user.id}`, body)).status).toBe(200);
};

describe('the sessions', () => {
  const query = (sql: string, values: unknown[]) => app.sql<{ id: string }[]>(sql, values);
  const me = (where: TestApp, cookie: string) => where.get('/api/me', { cookie });

  const statusesOf = async (cookie: string) => [
    (await app.get('/api/users', { cookie })).status,
    (await replica.get('/api/users', { cookie })).status,
  ];

  it.each<[string, (user: TestUser, cookie: string) => Promise<unknown>]>([
    ['the user is disabled', (user) => change(user, { enabled: false })],
    ['the user is deleted', (user) => admin.delete(`/api/users/${user.id}`)],
    ['the password is set by an admin', (user) => change(user, { password: 'another password' })],
    ['the user logs out', (_, cookie) => app.post('/logout', undefined, { cookie })],
  ])('end on every replica within a second when %s', async (_, happening) => {
    const user = await makeUser(app, 'admin');
    const cookie = await logIn(app, user);
    expect(await statusesOf(cookie)).toEqual([200, 200]);
    await happening(user, cookie);
    // The end takes effect immediately on the replica that received the request.
    expect((await me(app, cookie)).status).toBe(401);
    skipTime(PROMISED_MS);
    expect(await statusesOf(cookie)).toEqual([401, 401]);
  });

  it('continue with the new role on every replica within a second when the role changes', async () => {
    const user = await makeUser(app, 'admin');
    const cookie = await logIn(app, user);
    expect(await statusesOf(cookie)).toEqual([200, 200]);
    await change(user, { role: 'viewer' });
    skipTime(PROMISED_MS);
    expect(await statusesOf(cookie)).toEqual([403, 403]);
    expect((await me(replica, cookie)).body.data).toMatchObject({ role: 'viewer' });
    await change(user, { role: 'senior' });
    skipTime(PROMISED_MS);
    expect((await me(replica, cookie)).body.data).toMatchObject({ approval_level: 'senior' });
  });

  it('stay ended when a disabled user is enabled again', async () => {
    const user = await makeUser(app, 'viewer');
    const cookie = await logIn(app, user);
    await change(user, { enabled: false });
    expect(
      (await app.post('/login', { username: user.name, password: user.password })).status,
    ).toBe(401);
    await change(user, { enabled: true });
    skipTime(PROMISED_MS);
    expect((await me(app, cookie)).status).toBe(401);
    expect((await me(app, await logIn(app, user))).status).toBe(200);
  });

  it('end after eight hours without a request, and after a day even while they are in use', async () => {
    const user = await makeUser(app, 'viewer');
    const age = async (column: string, interval: string) => {
      const cookie = await logIn(app, user);
      const change = `set ${column} = ${column} - interval '${interval}' where user_id = $1`;
      await query(`update sessions ${change}`, [user.id]);
      const { status } = await me(replica, cookie);
      await query('delete from sessions where user_id = $1', [user.id]);
      return status;
    };
    expect(await age('last_seen_at', '7 hours 59 minutes')).toBe(200);
    expect(await age('last_seen_at', '8 hours')).toBe(401);
    expect(await age('expires_at', '23 hours 59 minutes')).toBe(200);
    expect(await age('expires_at', '24 hours')).toBe(401);
  });

  it('are deleted from the database once they have ended, and not before', async () => {
    const user = await makeUser(app, 'viewer');
    const cookies = [];
    for (let index = 0; index < 3; index += 1) cookies.push(await logIn(app, user));
    const ids = await query('select id from sessions where user_id = $1 order by created_at', [
      user.id,
    ]);
    for (const [at, column, interval] of [
      [0, 'last_seen_at', '8 hours'],
      [1, 'expires_at', '1 second'],
    ] as const) {
      const change = `set ${column} = now() - interval '${interval}' where id = $1`;
      await query(`update sessions ${change}`, [ids[at]!.id]);
    }
    await app.nest.get(SessionsService, { strict: false }).prune();
    expect(await query('select id from sessions where user_id = $1', [user.id])).toEqual([ids[2]]);
    expect((await me(app, cookies[2]!)).status).toBe(200);
  });

  it('are extended by use', async () => {
    const user = await makeUser(app, 'viewer');
    const cookie = await logIn(app, user);
    await query(
      `update sessions set last_seen_at = now() - interval '7 hours' where user_id = $1`,
      [user.id],
    );
    await me(replica, cookie);
    await eventually(
      () =>
        query(
          `select 1 from sessions where user_id = $1 and last_seen_at > now() - interval '1 hour'`,
          [user.id],
        ),
      (rows) => rows.length === 1,
    );
  });

  it('accept writes from pages of this site only', async () => {
    const user = await makeUser(app, 'admin');
    const cookie = await logIn(app, user);
    const post = (headers: object) => app.post('/api/users', {}, { cookie, ...headers });
    const here = `http://127.0.0.1:${app.port}`;
    for (const headers of [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'http://evil.example' },
      { referer: here },
    ]) {
      const answer = await post(headers);
      expect([answer.status, answer.body.error.code]).toEqual([403, 'forbidden']);
      expect(answer.body.error.details).toBeUndefined();
    }
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: here }]) {
      expect((await post(headers)).status).toBe(422);
    }
    const read = await app.get('/api/users', { cookie, 'sec-fetch-site': 'cross-site' });
    expect(read.status).toBe(200);
  });

  it('are ignored if the request also has a key, valid or not', async () => {
    const user = await makeUser(app, 'viewer');
    const cookie = await logIn(app, user);
    expect((await admin.get('/api/me', { cookie })).body.data.kind).toBe('key');
    expect((await admin.post('/api/users', {}, { cookie })).status).toBe(422);
    for (const authorization of [`Bearer its_AAAAAAAA_${'A'.repeat(43)}`, 'Basic YTpi', '']) {
      expect((await app.get('/api/me', { cookie, authorization })).status).toBe(401);
    }
  });

  it.each([
    ['an empty token', 'its_session='],
    ['a token of nobody', `its_session=${'A'.repeat(43)}`],
    ['a very long token', `its_session=${'A'.repeat(4988)}`],
    ['separators alone', '=;;;its_session==;'],
  ])('are not found for a cookie with %s, and the answer is 401', async (_, cookie) => {
    expect((await me(app, cookie)).status).toBe(401);
  });

  it('stay cached after a logout without a valid session', async () => {
    const cookie = await logIn(app, await makeUser(app, 'viewer'));
    const forget = jest.spyOn(app.nest.get(Credentials, { strict: false }), 'forgetAfter');
    for (const token of ['nonsense', 'A'.repeat(43)]) {
      await app.post('/logout', undefined, { cookie: `its_session=${token}` });
    }
    expect(forget).not.toHaveBeenCalled();
    await app.post('/logout', undefined, { cookie });
    expect(forget).toHaveBeenCalledTimes(1);
    forget.mockRestore();
  });

  it('do not count as ended while they cannot be read', async () => {
    const user = await makeUser(app, 'viewer');
    const session = await inSession(app, user);
    const verify = jest.spyOn(app.nest.get(Credentials, { strict: false }), 'verify');
    verify.mockRejectedValue(new ConnectionLostError('gone'));
    const body = { current_password: user.password, new_password: 'a better password' };
    const answers = [
      await session.get('/login'),
      await session.post('/login/password', body),
      await session.post('/logout'),
    ];
    verify.mockRestore();
    expect(answers.map(({ status }) => status)).toEqual([200, 503, 503]);
    expect((await session.get('/api/me')).status).toBe(200);
  });

  it('end, except the current session, when users change their own password', async () => {
    const user = await makeUser(app, 'viewer');
    const other = await logIn(replica, user);
    const mine = await inSession(app, user);
    const put = (body: object) => mine.put('/api/me/password', body);
    const wanted = { current_password: user.password, new_password: 'a better password' };
    const wrong = await put({ ...wanted, current_password: 'not this one' });
    expect([wrong.status, wrong.body.error.code]).toEqual([401, 'invalid_credentials']);
    expect(wrong.body.error.message).toBe('The current password is wrong.');
    expect((await put({ ...wanted, new_password: 'too short' })).status).toBe(422);
    expect((await put({ ...wanted, new_password: 'x'.repeat(257) })).status).toBe(422);
    expect((await put(wanted)).body.data.name).toBe(user.name);
    skipTime(PROMISED_MS);
    expect((await mine.get('/api/me')).status).toBe(200);
    expect((await me(replica, other)).status).toBe(401);
    await expect(logIn(app, user)).rejects.toThrow('invalid_credentials');
    // The composed and the decomposed form are the same password.
    await put({
      current_password: 'a better password',
      new_password: 'zw\u00f6lf zeichen \ufb01n',
    });
    await logIn(app, { ...user, password: 'zwo\u0308lf zeichen fin' });
  });

  it('are required for users to change their own password, and a key is rejected', async () => {
    const answer = await admin.put('/api/me/password', {
      current_password: 'whatever it is',
      new_password: 'whatever it was',
    });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'invalid_state']);
  });

  it('are listed with the origin of each login, only for their user', async () => {
    const user = await makeUser(app, 'viewer');
    const agent = `Browser/1.0 ${'x'.repeat(300)}`;
    const first = await app.post(
      '/login',
      { username: user.name, password: user.password },
      { 'user-agent': agent },
    );
    // Ended sessions are not listed.
    await logIn(app, user);
    await query(
      `update sessions set last_seen_at = now() - interval '8 hours'
        where id = (select id from sessions where user_id = $1 order by created_at desc limit 1)`,
      [user.id],
    );
    const mine = await inSession(replica, user);
    const other = await inSession(app, await makeUser(app, 'viewer'));
    const list = await mine.get('/api/me/sessions');
    expect(list.body.meta).toEqual({ page: 1, per_page: 20, total: 2 });
    const shown = {
      id: expect.any(String),
      created_at: expect.any(String),
      last_seen_at: expect.any(String),
      expires_at: expect.any(String),
      address: '127.0.0.1',
    };
    expect(list.body.data).toEqual([
      { ...shown, current: true },
      {
        ...shown,
        current: false,
        expires_at: first.body.data.expires_at,
        user_agent: agent.slice(0, 256),
      },
    ]);
    const token = first.headers['set-cookie']![0]!.slice('its_session='.length, 40);
    expect(list.text).not.toContain(token);
    const sorted = await mine.get('/api/me/sessions?sort=created_at&per_page=1&page=2');
    expect(sorted.body.data).toEqual([list.body.data[0]]);
    expect((await mine.get('/api/me/sessions?sort=user_id')).status).toBe(422);
    expect((await other.get('/api/me/sessions')).body.meta.total).toBe(1);
    // A key has no sessions, not even those of its creator.
    expect((await admin.get('/api/me/sessions')).body.data).toEqual([]);
  });

  it('end one by one on every replica within a second when their user ends them', async () => {
    const user = await makeUser(app, 'admin');
    const lost = await logIn(app, user);
    const mine = await inSession(app, user);
    const { body } = await mine.get('/api/me/sessions?sort=created_at');
    const [{ id }, { id: current }] = body.data as [{ id: string }, { id: string }];
    // Ids are accepted in upper case and shown in lower case.
    const path = `/api/me/sessions/${id.toUpperCase()}`;
    for (const stranger of [admin, await inSession(app, await makeUser(app, 'admin'))])
      expect((await stranger.delete(path)).status).toBe(404);
    expect(await statusesOf(lost)).toEqual([200, 200]);
    expect((await mine.delete(path)).body).toEqual({ data: { id, deleted: true } });
    expect((await me(app, lost)).status).toBe(401);
    skipTime(PROMISED_MS);
    expect(await statusesOf(lost)).toEqual([401, 401]);
    expect((await mine.delete(path)).status).toBe(404);
    expect((await mine.delete('/api/me/sessions/current')).status).toBe(404);
    expect((await admin.get(`/api/audit?action=auth.session_ended`)).body.data).toMatchObject([
      { actor: user.name, subject: { type: 'session', id }, details: { address: '127.0.0.1' } },
    ]);
    expect((await mine.delete(`/api/me/sessions/${current}`)).status).toBe(200);
    expect((await mine.get('/api/me')).status).toBe(401);
  });
});

describe('the API keys of a user', () => {
  let made = 0;
  async function keyMadeBy(client: ApiClient): Promise<{ id: string; key: string }> {
    const body = { name: `key ${(made += 1)}`, role: 'admin' };
    const answer = await client.post('/api/api-keys', body);
    expect(answer.status).toBe(201);
    return answer.body.data as { id: string; key: string };
  }
  const withKey = (key: string, where = app) =>
    where.client.with({ authorization: `Bearer ${key}` });
  /**
   * Creates a user with one key, and a second key that was created with the first one. Uses both keys on both replicas.
   */
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
      keys.map((key) => withKey(key, where).get('/api/users')),
    );
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  const audited = (action: string, subject: string) =>
    app.sql<{ actor: string; details: Record<string, unknown> }[]>(
      `select actor, details::jsonb as details from audit_log where action = $1 and subject_id = $2`,
      [action, subject],
    );
  const remove = (user: TestUser, query = '', client = admin) =>
    client.delete(`/api/users/${user.id}${query}`);

  it.each(['', '?keys=revoke'])(
    'end on every replica within a second when the user is deleted with the query %j',
    async (query) => {
      const { user, keys, ids } = await userWithKeys();
      const others = await userWithKeys();
      expect((await remove(user, query)).status).toBe(200);
      // The deletion takes effect immediately on the replica that received the request.
      for (const key of keys) expect((await withKey(key).get('/api/users')).status).toBe(401);
      skipTime(PROMISED_MS);
      expect(await statuses(keys)).toEqual([401, 401, 401, 401]);
      expect(await statuses(others.keys)).toEqual([200, 200, 200, 200]);
      for (const id of ids) {
        expect(await audited('api_key.revoked', id)).toMatchObject([
          { details: { reason: `${user.name} was deleted` } },
        ]);
        expect((await admin.delete(`/api/api-keys/${id}`)).status).toBe(404);
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
    const enable = (enabled: boolean) => change(user, { enabled });
    await enable(false);
    expect((await withKey(keys[0]!).get('/api/users')).status).toBe(401);
    skipTime(PROMISED_MS);
    expect(await statuses(keys)).toEqual([401, 401, 401, 401]);
    await enable(true);
    skipTime(PROMISED_MS);
    expect(await statuses(keys)).toEqual([200, 200, 200, 200]);
    // For a disabled user too, the query decides what happens to the keys of the deleted user.
    await enable(false);
    expect((await remove(user, '?keys=keep')).status).toBe(200);
    skipTime(PROMISED_MS);
    expect(await statuses(keys)).toEqual([200, 200, 200, 200]);
  });

  it('have at most the current role of the user', async () => {
    const { user, keys } = await userWithKeys();
    const become = async (role: string) => {
      await change(user, { role });
      skipTime(PROMISED_MS);
    };
    await become('analyst');
    expect(await statuses(keys)).toEqual([403, 403, 403, 403]);
    const me = await withKey(keys[1]!).get('/api/me');
    expect(me.body.data).toMatchObject({ role: 'analyst', approval_level: 'analyst' });
    const back = await withKey(keys[0]!).put(`/api/users/${user.id}`, { role: 'admin' });
    expect(back.status).toBe(403);
    await become('admin');
    expect(await statuses(keys)).toEqual([200, 200, 200, 200]);
    // After the deletion of the user, the kept keys do not get the old role again.
    await become('viewer');
    expect((await remove(user, '?keys=keep')).status).toBe(200);
    skipTime(PROMISED_MS);
    expect(await statuses(keys)).toEqual([403, 403, 403, 403]);
  });

  it('are not created during the deletion of their user', async () => {
    const { user, keys } = await userWithKeys();
    const database = app.nest.get(DataSource);
    const body = { name: 'too late', role: 'admin' };
    const late = await whileHeld(
      database,
      'select 1 from users where id = $1 for update',
      [user.id],
      () => withKey(keys[1]!, replica).post('/api/api-keys', body),
      async (deletion) => {
        await deletion.query('update api_keys set revoked_at = now() where owner_id = $1', [
          user.id,
        ]);
        await deletion.query(
          'update users set deleted_at = now(), enabled = false, password_hash = null where id = $1',
          [user.id],
        );
      },
    );
    expect(late.status).toBe(401);
    expect(await database.query(`select 1 from api_keys where name = 'too late'`)).toEqual([]);
  });
});
