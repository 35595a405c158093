import { DataSource } from 'typeorm';
import { Credentials } from '../../src/auth/credentials.js';
import { type LoginUser, Passwords } from '../../src/auth/passwords.js';
import type { Principal } from '../../src/auth/principal.js';
import { SessionsService } from '../../src/auth/sessions.service.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import type { ApiClient, Answer } from '../support/api-client.js';
import { whileHeld } from '../support/actions/held-change.js';
import { makeKey, makeUser, type TestKey, inSession, as } from '../support/principals.js';
import { rawRequest } from '../support/raw-http.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() => startTestApp());

describe('Credentials', () => {
  let key: TestKey;

  beforeAll(async () => {
    key = await makeKey(app, 'viewer', { limits: { read: 0, write: 7 } });
  });

  const me = (authorization: string) => app.get('/api/me', { authorization });

  it('identify the caller', async () => {
    expect((await key.client.get('/api/me')).body).toEqual({
      data: {
        name: key.name,
        kind: 'key',
        role: 'viewer',
        approval_level: 'none',
        limit_class: 'standard',
        limits: { read: 0, write: 7 },
      },
    });
    expect((await key.client.request('HEAD', '/api/me')).status).toBe(200);
  });

  it.each([
    ['as documented', (text: string) => `Bearer ${text}`],
    ['in upper case', (text: string) => `BEARER ${text}`],
    ['with white space around', (text: string) => `  Bearer ${text}  `],
  ])('are accepted in the form %s', async (_, header) => {
    expect((await me(header(key.key))).status).toBe(200);
  });

  it.each([
    ['the prefix alone', (text: string) => `Bearer ${text.slice(0, 13)}`],
    [
      'the prefix with another secret',
      (text: string) => `Bearer ${text.slice(0, 13)}${'A'.repeat(43)}`,
    ],
    ['the secret with another prefix', (text: string) => `Bearer its_AAAAAAAA_${text.slice(13)}`],
    ['another scheme', (text: string) => `Token ${text}`],
    ['two keys', (text: string) => `Bearer ${text}, Bearer ${text}`],
  ])('are refused in the form %s', async (_, header) => {
    const answer = await me(header(key.key));
    expect(answer.status).toBe(401);
    expect(answer.body.error.code).toBe('unauthorized');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.text).not.toContain(key.key.slice(13));
  });

  it('are rejected if the request has two credentials, even with the same key', async () => {
    const header = `uthorization: Bearer ${key.key}\r\n`;
    const text = `GET /api/me HTTP/1.1\r\nHost: x\r\nA${header}a${header}\r\n`;
    expect((await rawRequest(app.port, text)).status).toBe(401);
  });

  it('are not accepted in a query parameter', async () => {
    expect((await app.get(`/api/me?access_token=${key.key}&api_key=${key.key}`)).status).toBe(401);
  });

  it('get a cookie without Secure if X-Forwarded-Proto comes from an untrusted proxy', async () => {
    const { name: username, password } = await makeUser(app, 'viewer');
    const headers = { 'x-forwarded-proto': 'https' };
    const answer = await app.post('/login', { username, password }, headers);
    expect(answer.headers['set-cookie']?.[0]).not.toContain('Secure');
  });

  it('are checked before any other check', async () => {
    const answer = await app.post('/api/users', '{"broken', { 'content-type': 'text/plain' });
    expect(answer.status).toBe(401);
    const viewer = await key.client.post('/api/users', '{"broken', {
      'content-type': 'application/json',
    });
    expect(viewer.status).toBe(400);
  });
});

describe('the owner of an API key', () => {
  let made = 0;
  async function keyMadeBy(client: ApiClient) {
    const body = { name: `key-${(made += 1)}`, role: 'admin' };
    const answer = await client.post('/api/api-keys', body);
    expect(answer.status).toBe(201);
    const { id, name, key } = answer.body.data as { id: string; name: string; key: string };
    const own = app.client.with({ authorization: `Bearer ${key}` });
    return { id, name: `key:${name}`, key, client: own };
  }
  const personOf = async (key: string) =>
    (await app.nest.get(Credentials).verify({ kind: 'key', token: key }))?.identity.person;
  const areOne = (one: Pick<Principal, 'name' | 'person'>, name: string) =>
    app.nest.get(Transactions).run((tx) => app.nest.get(Credentials).isAmong(tx, one, [name]));

  it('is shown in the list of keys, which can be filtered by creator', async () => {
    const ada = await makeUser(app, 'admin');
    const session = await inSession(app, ada);
    const first = await keyMadeBy(session);
    const second = await keyMadeBy(first.client);
    const list = async (createdBy: string) => {
      const path = `/api/api-keys?created_by=${encodeURIComponent(createdBy)}`;
      const { body } = await session.get(path);
      expect(body.meta.total).toBe(body.data.length);
      return body.data as { id: string; created_by: string; owner: string }[];
    };
    expect(await list(ada.name)).toMatchObject([
      { id: first.id, created_by: ada.name, owner: ada.name },
    ]);
    expect(await list(first.name)).toMatchObject([
      { id: second.id, created_by: first.name, owner: ada.name },
    ]);
    expect(await list('nobody')).toEqual([]);
    const paged = await session.get(`/api/api-keys?created_by=${ada.name}&page=2`);
    expect([paged.body.data, paged.body.meta.total]).toEqual([[], 1]);
    expect((await session.get('/api/api-keys?created_by=')).status).toBe(422);
  });

  it('is empty for a key of the first start, and that key counts as one person with all keys that it created', async () => {
    const root = await makeKey(app, 'admin');
    const one = await keyMadeBy(root.client);
    const other = await keyMadeBy(root.client);
    const below = await keyMadeBy(one.client);
    const alone = (name: string) => ({ name, person: name });
    expect(await personOf(root.key)).toBe(root.name);
    expect(await personOf(one.key)).toBe(one.name);
    for (const { name } of [one, other, below]) {
      expect(await areOne(alone(root.name), name)).toBe(true);
      expect(await areOne(alone(name), root.name)).toBe(true);
    }
    expect(await areOne(alone(below.name), one.name)).toBe(true);
    expect(await areOne(alone(one.name), other.name)).toBe(false);
    expect(await areOne(alone(below.name), other.name)).toBe(false);
    for (const name of ['system', 'playbook:phishing-response', 'webhook:siem', 'key:', 'nobody'])
      expect(await areOne(alone(one.name), name)).toBe(false);
  });
});

/** Changes the user while the service checks the password. */
describe('a login or password change during a change of the user', () => {
  const DELETE = `update users set deleted_at = now(), enabled = false, password_hash = null where id = $1`;
  let database: DataSource;

  beforeAll(async () => {
    database = app.nest.get(DataSource);
  });
  afterEach(() => jest.restoreAllMocks());

  /** Returns the user as the login has read it. */
  async function seen(): Promise<LoginUser> {
    const { name } = await makeUser(app, 'senior');
    return (await app.nest.get(SessionsService).findUser(name, '192.0.2.1'))!;
  }
  const begin = (user: LoginUser) =>
    app.nest.get(SessionsService).begin(user, { address: '192.0.2.1' });
  const sessionsOf = ({ id }: LoginUser) =>
    database.query<object[]>('select 1 from sessions where user_id = $1', [id]);

  it.each([
    ['disabled', 'update users set enabled = false where id = $1'],
    ['given another password', `update users set password_hash = 'another' where id = $1`],
    ['deleted', 'update users set deleted_at = now(), password_hash = null where id = $1'],
  ])('begins no session if the user was %s meanwhile', async (_, sql) => {
    const user = await seen();
    await database.query(sql, [user.id]);
    expect(await begin(user)).toBeUndefined();
    expect(await sessionsOf(user)).toEqual([]);
    const [row] = await database.query(
      'select last_login_at, password_hash from users where id = $1',
      [user.id],
    );
    expect(row.last_login_at).toBeNull();
    expect(row.password_hash).not.toBe('a new hash');
  });

  it('begins a session with the lower role if the user was demoted meanwhile', async () => {
    const user = await seen();
    await database.query(`update users set role = 'viewer' where id = $1`, [user.id]);
    expect(await begin(user)).toMatchObject({ role: 'viewer' });
  });

  it('waits for a concurrent deletion, and then begins no session', async () => {
    const user = await seen();
    const begun = await whileHeld(
      database,
      'select 1 from users where id = $1 for update',
      [user.id],
      () => begin(user),
      async (deletion) => {
        await deletion.query('delete from sessions where user_id = $1', [user.id]);
        await deletion.query(DELETE, [user.id]);
      },
    );
    expect(begun).toBeUndefined();
    expect(await sessionsOf(user)).toEqual([]);
  });

  it.each([
    ['given another password', `update users set password_hash = 'another' where id = $1`],
    ['disabled', 'update users set enabled = false where id = $1'],
    ['logged out', 'delete from sessions where user_id = $1'],
  ])('does not change the password of the user if the user was %s meanwhile', async (_, sql) => {
    const user = await makeUser(app, 'viewer');
    const mine = await inSession(app, user);
    const hashOf = async (): Promise<string> =>
      (await database.query('select password_hash from users where id = $1', [user.id]))[0]
        .password_hash;
    let kept: string | undefined;
    const check = jest.spyOn(app.nest.get(Passwords), 'verify').mockImplementation(async () => {
      await database.query(sql, [user.id]);
      kept = await hashOf();
      return true;
    });
    const body = { current_password: user.password, new_password: 'the one of the intruder' };
    const answer = await mine.put('/api/me/password', body);
    expect(check).toHaveBeenCalledTimes(1);
    expect(answer.status).toBe(401);
    expect(await hashOf()).toBe(kept);
  });
});

describe('A weak password', () => {
  const WEAK = 'Password123!';
  const STRONG = 'seven herons over the lake';
  const admin = useStarted(() => as(app, 'admin'));

  const expectWeak = ({ status, body }: Answer, field: string, words = 'too easy to guess') => {
    expect([status, body.error.code]).toEqual([422, 'weak_password']);
    expect(body.error.details.errors).toEqual([
      { field, code: 'weak_password', message: expect.stringContaining(words) },
    ]);
  };

  it('is rejected for a new user, and in a change by an admin or by the user', async () => {
    const created = { username: 'jonathan.archer', role: 'viewer' };
    const create = (password: string) => admin.post('/api/users', { ...created, password });
    expectWeak(await create(WEAK), 'password');
    expectWeak(await create('Jonathan.Archer1'), 'password', 'the user name');
    const { id } = (await create(STRONG)).body.data as { id: string };
    const set = (password: string) => admin.put(`/api/users/${id}`, { password });
    expectWeak(await set(WEAK), 'password');
    expectWeak(await set('archer-jonathan'), 'password', 'the user name');
    const user = await makeUser(app, 'viewer');
    const session = await inSession(app, user);
    const body = { current_password: user.password, new_password: WEAK };
    expectWeak(await session.put('/api/me/password', body), 'new_password');
    expectWeak(await session.post('/login/password', body), 'new_password');
  });

  it('is rejected if it is the current password', async () => {
    const user = await makeUser(app, 'viewer');
    const session = await inSession(app, user);
    const { status, body } = await session.put('/api/me/password', {
      current_password: user.password,
      new_password: user.password,
    });
    expect([status, body.error.details.errors[0].code]).toEqual([422, 'unchanged']);
  });
});
