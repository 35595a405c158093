import crypto from 'node:crypto';
import { DataSource } from 'typeorm';
import { makeUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describe('Guessing passwords', () => {
  let app: TestApp;

  beforeEach(async () => {
    // So that each request of a test may come from an address of its own.
    app = await startTestApp({ settings: { TRUST_PROXY: '127.0.0.1/32' } });
  });

  afterEach(() => app.close());

  const guess = (address: string, username: string, password: string) =>
    app.request('POST', '/login', {
      body: { username, password },
      headers: { 'x-forwarded-for': address },
    });

  it('is throttled after ten failures in a minute, for any user name and even with the right password', async () => {
    const user = await makeUser(app, 'viewer');
    const statuses = [];
    for (let index = 0; index < 10; index += 1) {
      statuses.push((await guess('192.0.2.1', index % 2 ? user.name : 'nobody', 'wrong')).status);
    }
    expect(statuses).toEqual(Array(10).fill(401));
    const blocked = await guess('192.0.2.1', user.name, user.password);
    expect([blocked.status, blocked.body.error.code]).toEqual([429, 'rate_limited']);
    expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(0);
    // Nobody else is locked out, not even the user who was guessed.
    expect((await guess('192.0.2.2', user.name, user.password)).status).toBe(200);
    const form = await app.request('POST', '/login', {
      body: 'username=a&password=b',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-forwarded-for': '192.0.2.1',
      },
    });
    expect(form.status).toBe(429);
    expect(form.text).toContain('Too many wrong passwords from this address');
  });

  it('gets no additional guesses from concurrent requests', async () => {
    const user = await makeUser(app, 'viewer');
    const guesses = Array.from({ length: 59 }, (_, index) => `wrong ${index}`);
    const answers = await Promise.all(
      [...guesses, user.password].map((password) => guess('192.0.2.3', user.name, password)),
    );
    // The right one came last: by then there have been too many.
    expect(answers.at(-1)!.status).toBe(429);
    const failed = answers.filter(({ status }) => status === 401);
    expect(failed.length).toBeLessThanOrEqual(10);
    expect(answers.filter(({ status }) => status === 429).length).toBe(60 - failed.length);
    const rows = await app.nest
      .get(DataSource)
      .query<object[]>(`select action from audit_log where action like 'auth.login%'`);
    // Ten failures, and one row for all that were not even tried.
    expect(rows.length).toBeLessThanOrEqual(11);
  });

  it('computes one hash of the same cost for each guess, so that response times do not show which users exist', async () => {
    const user = await makeUser(app, 'viewer');
    const disabled = await makeUser(app, 'viewer');
    await app.nest
      .get(DataSource)
      .query('update users set enabled = false where id = $1', [disabled.id]);
    const argon2 = jest.spyOn(crypto, 'argon2');
    const names = [user.name, 'nobody', disabled.name, '\u{1f600}'];
    for (const name of names) {
      expect((await guess('198.51.100.1', name, 'a wrong password')).status).toBe(401);
    }
    const costs = argon2.mock.calls.map(([, { memory, passes }]) => ({ memory, passes }));
    argon2.mockRestore();
    expect(costs).toEqual(names.map(() => ({ memory: 19_456, passes: 2 })));
  });

  it('rehashes a password of another cost after a successful login', async () => {
    const { hashPassword } = await import('../../src/auth/passwords/passwords.js');
    const user = await makeUser(app, 'viewer');
    const database = app.nest.get(DataSource);
    const old = await hashPassword(user.password, { m: 8_192, t: 1, p: 1 });
    await database.query('update users set password_hash = $1 where id = $2', [old, user.id]);
    expect((await guess('192.0.2.9', user.name, 'a wrong password')).status).toBe(401);
    expect((await guess('192.0.2.9', user.name, user.password)).status).toBe(200);
    const [row] = await database.query('select password_hash from users where id = $1', [user.id]);
    expect(row.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect((await guess('192.0.2.9', user.name, user.password)).status).toBe(200);
  });
});
