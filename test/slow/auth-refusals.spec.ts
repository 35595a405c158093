import { DataSource } from 'typeorm';
import { createKey } from '../../src/auth/keys/key-format.js';
import { eventually } from '../support/jobs/eventually.js';
import { makeKey, makeUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

interface Row {
  readonly actor: string;
  readonly subject_id: string;
  readonly details: Readonly<Record<string, unknown>>;
}

interface Counted extends Row {
  readonly details: {
    readonly refusals: string;
    readonly left_out: number;
    readonly from: string;
    readonly to: string;
  };
}

describe('The audit trail of refusals', () => {
  /** Another replica, which looks on. */
  let observer: TestApp;
  let app: TestApp;

  beforeEach(async () => {
    observer = await startTestApp();
    const settings = { TRUST_PROXY: '127.0.0.1/32' };
    app = await startTestApp({ settings, database: observer.database });
  });
  afterEach(async () => {
    await app.close();
    await observer.close();
  });

  const rows = <R extends Row>(action: string) =>
    observer.nest
      .get(DataSource)
      .query<R[]>(
        'select actor, subject_id, details::jsonb as details from audit_log where action = $1 order by id',
        [action],
      );
  const badKey = (address: string) =>
    app.request('GET', '/api/me', {
      headers: { authorization: `Bearer ${createKey().key}`, 'x-forwarded-for': address },
    });

  it('has the refusals of known callers, whatever strangers send from many addresses', async () => {
    const addresses = Array.from({ length: 1_400 }, (_, n) => `10.0.${n >> 8}.${n & 255}`);
    for (let sent = 0; sent < addresses.length; sent += 50) {
      await Promise.all(addresses.slice(sent, sent + 50).map(badKey));
    }
    const viewer = await makeKey(app, 'viewer');
    expect((await viewer.client.request('GET', '/api/users')).status).toBe(403);
    const user = await makeUser(app, 'analyst');
    const body = { username: user.name, password: 'a wrong password' };
    expect((await app.request('POST', '/login', { body })).status).toBe(401);
    expect(await rows('auth.role_refused')).toMatchObject([
      { actor: viewer.name, subject_id: 'GET /api/users' },
    ]);
    expect(await rows('auth.login_failed')).toMatchObject([
      { actor: 'address:127.0.0.1', subject_id: user.name },
    ]);
    // The service that stops says what it has not written.
    const stopped = new Date();
    await app.nest.close();
    const written = (await rows('auth.key_refused')).length;
    expect(written).toBeLessThan(1_400);
    // Several on a slow machine: the minute ends before, or the database is too busy for a row, which is counted then.
    const left = await rows<Counted>('auth.refusals_counted');
    for (const { actor, details } of left) {
      expect([actor, details.refusals]).toEqual(['system', 'auth.key_refused']);
      expect(Date.parse(details.from)).toBeLessThanOrEqual(Date.parse(details.to));
      expect(Date.parse(details.to)).toBeLessThanOrEqual(stopped.getTime());
    }
    expect(left.reduce((sum, { details }) => sum + details.left_out, written)).toBe(1_400);
  });

  it('counts addresses of one IPv6 network as one', async () => {
    for (let index = 1; index <= 20; index += 1) await badKey(`2001:db8:1:2::${index}`);
    await badKey('2001:db8:1:3::1');
    const networks = await eventually(
      async () => (await rows('auth.key_refused')).map(({ subject_id }) => subject_id),
      (written) => written.length >= 2,
    );
    expect(networks).toEqual(['2001:db8:1:2::/64', '2001:db8:1:3::/64']);
  });
});
