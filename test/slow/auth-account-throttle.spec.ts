import { DataSource } from 'typeorm';
import { createKey } from '../../src/auth/credentials.js';
import { SessionsService } from '../../src/auth/sessions.service.js';
import { eventually } from '../support/jobs/eventually.js';
import { inSession, makeUser, type TestUser } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const GUESSES = 30;

describe('The throttle against guesses of one password from many addresses', () => {
  const app = useStarted(() => startTestApp({ settings: { TRUST_PROXY: '127.0.0.1/32' } }));
  let owner: TestUser;
  let tests = 0;

  beforeEach(async () => {
    owner = await makeUser(app, 'analyst');
    // Uses new addresses in each test, because each address has its own limit.
    tests += 1;
  });

  const logIn = async (address: string, username: string, password: string) =>
    await app.post('/login', { username, password }, { 'x-forwarded-for': address });
  const statusOf = async (address: string, username: string, password: string) =>
    (await logIn(address, username, password)).status;
  const guessFrom = (count: number, addressOf: (index: number) => string, username: string) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        statusOf(addressOf(index), username, `wrong ${index}`),
      ),
    );
  const rotating = (index: number) => `198.51.${100 + tests}.${index}:${1024 + index}`;
  const tally = (statuses: number[]) =>
    Object.fromEntries(
      [401, 429].map((status) => [status, statuses.filter((one) => one === status).length]),
    );

  it('slows the guesser, but not a user who logged in from the same address before', async () => {
    expect(await statusOf('192.0.2.1', owner.name, owner.password)).toBe(200);
    const statuses = await guessFrom(GUESSES, rotating, owner.name);
    expect(tally(statuses)).toEqual({ 401: 10, 429: GUESSES - 10 });
    // The throttle also rejects the right password. Otherwise, it would not slow down guesses.
    const throttled = await logIn('203.0.113.1', owner.name, owner.password);
    expect([throttled.status, throttled.body.error.code]).toEqual([429, 'rate_limited']);
    expect(Number(throttled.headers['retry-after'])).toBeGreaterThan(0);
    expect(await statusOf('192.0.2.1:40000', owner.name, owner.password)).toBe(200);
    expect(await statusOf('192.0.2.1', owner.name, 'a slip of the owner')).toBe(401);
    // Other users are not throttled.
    const other = await makeUser(app, 'viewer');
    expect(await statusOf('203.0.113.1', other.name, other.password)).toBe(200);
  });

  it('does not reveal by its limit which users exist', async () => {
    const known = await guessFrom(30, rotating, owner.name);
    const unknown = await guessFrom(30, rotating, 'nobody');
    expect(tally(unknown)).toEqual(tally(known));
    const [one, other] = await Promise.all([
      logIn('203.0.113.1', owner.name, 'wrong'),
      logIn('203.0.113.2', 'nobody', 'wrong'),
    ]);
    expect([one.status, one.body.error.message]).toEqual([429, other.body.error.message]);
  });

  it('is recorded in the audit trail under the user, without the addresses', async () => {
    await guessFrom(20, rotating, owner.name);
    const limited = () =>
      app.sql<{ actor: string; subject_id: string }[]>(
        `select distinct actor, subject_id from audit_log where action = 'auth.login_limited' and subject_id = $1`,
        [owner.name],
      );
    // The audit record is written in the background.
    const rows = await eventually(limited, ({ length }) => length > 0);
    expect(rows).toEqual([{ actor: 'system', subject_id: owner.name }]);
  });

  it('applies to all networks except the network of an earlier login', async () => {
    expect(await statusOf('[2001:db8:1:2::1]:443', owner.name, owner.password)).toBe(200);
    await guessFrom(20, rotating, owner.name);
    expect(await statusOf('2001:db8:1:2:ffff::9', owner.name, owner.password)).toBe(200);
    expect(await statusOf('2001:db8:1:3::1', owner.name, owner.password)).toBe(429);
  });

  it('lets a user log in for the first time from the machine itself', async () => {
    await guessFrom(20, rotating, owner.name);
    expect(await statusOf('203.0.113.1', owner.name, owner.password)).toBe(429);
    const { name: username, password } = owner;
    expect((await app.post('/login', { username, password })).status).toBe(200);
  });

  it('applies to password changes in a stolen session, separately from logins', async () => {
    await guessFrom(20, rotating, owner.name);
    const session = await inSession(app, owner);
    const ask = (address: string, current_password: string) =>
      session.put(
        '/api/me/password',
        { current_password, new_password: 'quite another one: 47 herons' },
        { 'x-forwarded-for': address },
      );
    const change = async (address: string, current_password: string) =>
      (await ask(address, current_password)).status;
    const statuses = await Promise.all(
      Array.from({ length: 30 }, (_, index) => change(rotating(index), `wrong ${index}`)),
    );
    expect(tally(statuses)).toEqual({ 401: 10, 429: 20 });
    const refused = await ask('203.0.113.1', owner.password);
    expect(refused.status).toBe(429);
    // The limit of the user applies: no login was attempted from this address.
    expect(refused.body.error.message).toMatch(/^Too many wrong passwords for this user/);
    expect(await statusOf('127.0.0.1', owner.name, owner.password)).toBe(200);
    expect(await change('127.0.0.1', owner.password)).toBe(200);
  });

  it('deletes known addresses after half a year, and the addresses of deleted users', async () => {
    const database = app.nest.get(DataSource);
    const gone = await makeUser(app, 'viewer');
    await database.query(
      `insert into known_networks (user_id, network, last_seen_at) values
        ($1, 'kept', now() - interval '179 days'), ($1, 'old', now() - interval '181 days'), ($2, 'gone', now())`,
      [owner.id, gone.id],
    );
    await database.query(
      `update users set deleted_at = now(), enabled = false, password_hash = null where id = $1`,
      [gone.id],
    );
    await app.nest.get(SessionsService).prune();
    const text = 'select network from known_networks where user_id = any($1::uuid[])';
    expect(await database.query(text, [[owner.id, gone.id]])).toEqual([{ network: 'kept' }]);
  });

  it('records the IPv6 network of refused keys', async () => {
    const badKey = (address: string) =>
      app.get('/api/me', {
        authorization: `Bearer ${createKey().key}`,
        'x-forwarded-for': address,
      });
    for (let index = 1; index <= 20; index += 1) await badKey(`2001:db8:9:2::${index}`);
    await badKey('2001:db8:9:3::1');
    const networks = await eventually(
      () =>
        app.sql<object[]>(
          `select distinct subject_id from audit_log where action = 'auth.key_refused' order by subject_id`,
        ),
      (written) => written.length >= 2,
    );
    expect(networks).toEqual([
      { subject_id: '2001:db8:9:2::/64' },
      { subject_id: '2001:db8:9:3::/64' },
    ]);
  });
});
