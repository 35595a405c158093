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

describe('What was refused', () => {
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

  const rows = (action: string) =>
    observer.nest
      .get(DataSource)
      .query<Row[]>(
        'select actor, subject_id, details::jsonb as details from audit_log where action = $1 order by id',
        [action],
      );
  const badKey = (address: string) =>
    app.request('GET', '/api/me', {
      headers: { authorization: `Bearer ${createKey().key}`, 'x-forwarded-for': address },
    });

  it('is in the trail for who is known, whatever strangers send from however many addresses', async () => {
    const addresses = Array.from(
      { length: 1_400 },
      (_, index) => `10.0.${index >> 8}.${index & 255}`,
    );
    await Promise.all(addresses.map((address) => badKey(address)));
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
    const began = new Date();
    await app.nest.close();
    const written = (await rows('auth.key_refused')).length;
    const left = await rows('auth.refusals_counted');
    expect(written).toBeLessThan(1_400);
    expect(left).toMatchObject([
      {
        actor: 'system',
        subject_id: 'several',
        details: { refusals: 'auth.key_refused', left_out: 1_400 - written },
      },
    ]);
    const { from, to } = left[0]!.details as { from: string; to: string };
    expect(Date.parse(from)).toBeLessThanOrEqual(Date.parse(to));
    expect(Date.parse(from)).toBeLessThanOrEqual(began.getTime());
  });

  it('counts the addresses of one network of IPv6 as one', async () => {
    for (let index = 1; index <= 20; index += 1) await badKey(`2001:db8:1:2::${index}`);
    await badKey('2001:db8:1:3::1');
    const networks = await eventually(
      async () => (await rows('auth.key_refused')).map(({ subject_id }) => subject_id),
      (written) => written.length >= 2,
    );
    expect(networks).toEqual(['2001:db8:1:2::/64', '2001:db8:1:3::/64']);
  });
});
