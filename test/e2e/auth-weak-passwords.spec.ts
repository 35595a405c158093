import { DataSource } from 'typeorm';
import { AuditLog } from '../../src/audit/audit-log.js';
import { AdminAccount } from '../../src/auth/bootstrap/bootstrap.service.js';
import type { Answer, ApiClient } from '../support/api-client.js';
import { as, inSession, makeUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const WEAK = ['Password123!', 'q1w2e3r4t5y6u7i8o9p0', 'letmeinletmein'];
const STRONG = 'seven herons over the lake';

describe('A weak password', () => {
  let app: TestApp;
  let admin: ApiClient;

  beforeAll(async () => {
    app = await startTestApp();
    admin = await as(app, 'admin');
  });

  afterAll(() => app.close());

  const expectWeak = ({ status, body }: Answer, field: string, words = 'too easy to guess') => {
    expect([status, body.error.code]).toEqual([422, 'weak_password']);
    expect(body.error.details.errors).toEqual([
      { field, code: 'weak_password', message: expect.stringContaining(words) },
    ]);
  };

  it.each(WEAK)('is refused for a new user when it is %j', async (password) => {
    const body = { username: 'new.user', password, role: 'viewer' };
    expectWeak(await admin.request('POST', '/api/users', { body }), 'password');
    expect((await admin.request('GET', '/api/users')).text).not.toContain('new.user');
  });

  it('is rejected if it is derived from the user name', async () => {
    const user = { username: 'jonathan.archer', role: 'viewer' };
    const create = (password: string) =>
      admin.request('POST', '/api/users', { body: { ...user, password } });
    expectWeak(await create('Jonathan.Archer1'), 'password', 'the user name');
    const { id } = (await create(STRONG)).body.data as { id: string };
    const update = await admin.request('PUT', `/api/users/${id}`, {
      body: { password: 'archer-jonathan' },
    });
    expectWeak(update, 'password', 'the user name');
  });

  it.each(WEAK)('is refused when an admin or the user sets %j', async (weak) => {
    const user = await makeUser(app, 'viewer');
    const set = (password: string) =>
      admin.request('PUT', `/api/users/${user.id}`, { body: { password } });
    expectWeak(await set(weak), 'password');
    const session = await inSession(app, user);
    const change = (path: string, method: string) =>
      session.request(method, path, {
        body: { current_password: user.password, new_password: weak },
      });
    expectWeak(await change('/api/me/password', 'PUT'), 'new_password');
    expectWeak(await change('/login/password', 'POST'), 'new_password');
    expect((await set(STRONG)).status).toBe(200);
  });

  it('is not checked for an unknown user', async () => {
    const body = { password: WEAK[0] };
    const path = '/api/users/0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
    expect((await admin.request('PUT', path, { body })).status).toBe(404);
  });

  it('is rejected if it is the same as before', async () => {
    const user = await makeUser(app, 'viewer');
    const session = await inSession(app, user);
    const { status, body } = await session.request('PUT', '/api/me/password', {
      body: { current_password: user.password, new_password: user.password },
    });
    expect([status, body.error.details.errors[0].code]).toEqual([422, 'unchanged']);
  });

  it('is rejected by the command that creates an admin', async () => {
    const account = new AdminAccount(app.nest.get(DataSource), app.nest.get(AuditLog));
    await expect(account.ensure('operator', WEAK[0]!)).rejects.toThrow(
      /^The password is too easy to guess: [^\n]+$/,
    );
    expect(await account.ensure('operator', STRONG)).toBe('created');
    await expect(account.ensure('operator', 'operator2026')).rejects.toThrow('the user name');
  });
});
