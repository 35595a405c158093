import { type Credential, Credentials } from '../../src/auth/credentials.js';
import { newId } from '../../src/platform/ids.js';
import { ActionWorld } from '../support/actions/action-world.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { logIn, makeKey, makeUser } from '../support/principals.js';
import type { TestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

interface Ending {
  readonly of: 'key' | 'session';
  /** In the SQL, `$1` is the id of the key, or the id of the user of the session. */
  readonly sql: string;
  readonly status: 401 | 403;
}

const key = (sql: string, status: Ending['status'] = 401): Ending => ({ of: 'key', sql, status });
const session = (sql: string, status: Ending['status'] = 401): Ending => ({
  of: 'session',
  sql,
  status,
});

const ENDINGS: Readonly<Record<string, Ending>> = {
  'a key that was revoked': key('update api_keys set revoked_at = now() where id = $1'),
  'a key that expired': key('update api_keys set expires_at = now() where id = $1'),
  'a key that was demoted': key(`update api_keys set role = 'viewer' where id = $1`, 403),
  'a key whose owner was disabled': key(
    'update users set enabled = false where id = (select owner_id from api_keys where id = $1)',
  ),
  'a user who was disabled': session('update users set enabled = false where id = $1'),
  'a user who was deleted': session(
    'update users set deleted_at = now(), password_hash = null where id = $1',
  ),
  'a user who was demoted': session(`update users set role = 'viewer' where id = $1`, 403),
  // A logout and a changed password have the same effect.
  'a session that was ended': session('delete from sessions where user_id = $1'),
  'a session that expired': session('update sessions set expires_at = now() where user_id = $1'),
  'a session that was idle for too long': session(
    `update sessions set last_seen_at = now() - interval '8 hours' where user_id = $1`,
  ),
};

describe('Authority that ended between the guard and the transaction', () => {
  const world = useStarted(() => ActionWorld.start());

  afterEach(() => jest.restoreAllMocks());

  /** Returns an admin whose credential has ended, although the guards still accept it. */
  async function ended({ of, sql }: Ending): Promise<{ client: ApiClient; name: string }> {
    const { app, database } = world;
    const user = await makeUser(app, 'admin');
    if (of === 'key') {
      const made = await makeKey(app, 'admin');
      await database.query('update api_keys set owner_id = $1 where id = $2', [user.id, made.id]);
      await asTheGuardSaw(app, 'key', made.key);
      await database.query(sql, [made.id]);
      return made;
    }
    const cookie = await logIn(app, user);
    await asTheGuardSaw(app, 'user', cookie.slice(cookie.indexOf('=') + 1));
    await database.query(sql, [user.id]);
    const client = app.client.with({ cookie, 'sec-fetch-site': 'same-origin' });
    return { client, name: user.name };
  }
  const counted = async (text: string, values: unknown[] = []): Promise<number> =>
    (await world.database.query(`select count(*)::int as n from ${text}`, values))[0].n;
  const incident = { incident_type: 'phishing', source: 'authority' };

  it.each(Object.entries(ENDINGS))(
    'cannot make the decisions and changes of %s',
    async (_, ending) => {
      const waiting = (await world.execute('revoke_sessions')).body.data.action_id as string;
      const done = (await world.execute('block_sender')).body.data.action_id as string;
      const { client, name } = await ended(ending);
      const other = (await makeUser(world.app, 'viewer')).id;
      const post =
        (path: string, body: object, headers = {}) =>
        () =>
          client.post(path, body, headers);
      const attempts: Readonly<Record<string, () => Promise<Answer>>> = {
        approve: post(`/api/actions/${waiting}/approve`, {}),
        reject: post(`/api/actions/${waiting}/reject`, { reason: 'no' }),
        'roll back': post(`/api/actions/${done}/rollback`, { reason: 'no' }),
        execute: () => world.execute('lookup_ip', { client }),
        'create an incident': post('/api/incidents', incident),
        'create it once': post('/api/incidents', incident, { 'idempotency-key': newId() }),
        'stop everything': post('/api/kill-switch/activate', { reason: 'no' }),
        'make a key': post('/api/api-keys', { name: `by ${newId()}`, role: 'viewer' }),
        'make a user': post('/api/users', {
          username: `u${newId()}`,
          password: 'a long enough password',
          role: 'viewer',
        }),
        'change a user': () => client.put(`/api/users/${other}`, { role: 'admin' }),
      };
      const audited = () =>
        counted('audit_log where actor = $1 and action not like $2', [name, 'auth.%']);
      const before = await audited();
      const statuses: [string, number][] = [];
      for (const [attempt, make] of Object.entries(attempts)) {
        statuses.push([attempt, (await make()).status]);
      }
      expect(statuses).toEqual(statuses.map(([attempt]) => [attempt, ending.status]));
      expect(await audited()).toBe(before);
      const refusals = await counted(
        `audit_log where actor = $1 and action = 'auth.role_refused' and details::jsonb ->> 'role' = 'viewer'`,
        [name],
      );
      expect(refusals > 0).toBe(ending.status === 403);
      expect((await world.get(waiting)).status).toBe('pending_approval');
      expect(await world.get(done)).not.toHaveProperty('rolled_back_by');
      expect(await counted('actions where requested_by = $1', [name])).toBe(0);
      expect(await counted('incidents where created_by = $1', [name])).toBe(0);
      expect(await counted(`users where id = $1 and role = 'admin'`, [other])).toBe(0);
    },
  );

  it.each(Object.entries(ENDINGS))(
    'affects in a batch only the creations of %s',
    async (_, ending) => {
      const { client, name } = await ended(ending);
      const clients = Array.from({ length: 24 }, (__, at) =>
        at % 3 === 2 ? client : world.clients.analyst,
      );
      const answers = await Promise.all(clients.map((by) => by.post('/api/incidents', incident)));
      const expected = clients.map((by) => (by === client ? ending.status : 201));
      expect(answers.map(({ status }) => status)).toEqual(expected);
      expect(await counted('incidents where created_by = $1', [name])).toBe(0);
    },
  );

  it('is reduced to the remaining level: an analyst cannot approve an action that needs a senior', async () => {
    const isolate = await world.execute('isolate_host');
    const waiting = isolate.body.data.action_id as string;
    const done = await world.approved('isolate_host');
    const { client } = await ended(key(`update api_keys set role = 'analyst' where id = $1`));
    const attempts = [
      [`/api/actions/${waiting}/approve`, {}],
      [`/api/actions/${waiting}/reject`, { reason: 'no' }],
      [`/api/actions/${done}/rollback`, { reason: 'no' }],
    ] as const;
    const answers = [];
    for (const [path, body] of attempts) {
      answers.push((await client.post(path, body)).body.error);
    }
    const refusal = { required_level: 'senior', your_level: 'analyst' };
    expect(answers).toMatchObject([refusal, refusal, refusal]);
    expect((await world.get(waiting)).status).toBe('pending_approval');
    expect(await world.get(done)).not.toHaveProperty('rolled_back_by');
  });
});

/**
 * Lets the guards see the present credential also after it changes, as if it changed between the guard and the
 * transaction of a request. The test restores the mocks.
 */
async function asTheGuardSaw(app: TestApp, kind: Credential['kind'], token: string) {
  const credentials = app.nest.get(Credentials);
  const verify = credentials.verify.bind(credentials);
  const seen = await verify({ kind, token });
  if (!seen) throw new Error('The credential does not hold.');
  const mock = jest.spyOn(credentials, 'verify');
  mock.mockImplementation(async (other) => (other.token === token ? seen : await verify(other)));
}
