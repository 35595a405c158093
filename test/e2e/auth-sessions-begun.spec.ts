import { DataSource } from 'typeorm';
import { hashPassword } from '../../src/auth/passwords/passwords.js';
import { PasswordThrottle } from '../../src/auth/passwords/password-throttle.js';
import { SessionsService } from '../../src/auth/sessions/sessions.service.js';
import type { LoginUser } from '../../src/auth/users/user.entity.js';
import { UsersRepository } from '../../src/auth/users/users.repository.js';
import { eventually } from '../support/jobs/eventually.js';
import { inSession, logIn, makeUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const DELETE = `update users set deleted_at = now(), enabled = false, password_hash = null where id = $1`;

/** Between the check of a password and what follows from it lies all the time that the check takes. */
describe('a login or password change during a change of the user', () => {
  let app: TestApp;
  let database: DataSource;

  beforeAll(async () => {
    app = await startTestApp();
    database = app.nest.get(DataSource);
  });
  afterAll(() => app.close());
  afterEach(() => jest.restoreAllMocks());

  /** A user as the login saw it. */
  async function seen(): Promise<LoginUser> {
    const { name } = await makeUser(app, 'senior');
    return (await app.nest.get(UsersRepository).findForLogin(name, '192.0.2.1'))!;
  }
  const begin = (user: LoginUser) =>
    app.nest.get(SessionsService).begin({ user, address: '192.0.2.1', renewedHash: 'a new hash' });
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

  it('waits for a deletion under way, and then begins no session', async () => {
    const user = await seen();
    const deletion = database.createQueryRunner();
    await deletion.startTransaction();
    await deletion.query('select 1 from users where id = $1 for update', [user.id]);
    await deletion.query('delete from sessions where user_id = $1', [user.id]);
    const begun = begin(user);
    await eventually(
      () =>
        database.query<object[]>(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
        ),
      (waiting) => waiting.length > 0,
    );
    await deletion.query(DELETE, [user.id]);
    await deletion.commitTransaction();
    await deletion.release();
    expect(await begun).toBeUndefined();
    expect(await sessionsOf(user)).toEqual([]);
  });

  it.each([
    ['given another password', `update users set password_hash = 'another' where id = $1`, 401],
    ['disabled', 'update users set enabled = false where id = $1', 401],
    ['logged out', 'delete from sessions where user_id = $1', 401],
  ])('does not change the own password if the user was %s meanwhile', async (_, sql, status) => {
    const user = await makeUser(app, 'viewer');
    const mine = await inSession(app, user);
    const check = jest
      .spyOn(app.nest.get(PasswordThrottle), 'verifyPassword')
      .mockImplementation(async () => {
        await database.query(sql, [user.id]);
        return true;
      });
    const body = { current_password: user.password, new_password: 'the one of the intruder' };
    const answer = await mine.request('PUT', '/api/me/password', { body });
    expect(check).toHaveBeenCalledTimes(1);
    expect(answer.status).toBe(status);
    const known = await hashPassword(user.password);
    await database.query('update users set enabled = true where id = $1', [user.id]);
    check.mockRestore();
    await expect(logIn(app, { ...user, password: body.new_password })).rejects.toThrow();
    await database.query('update users set password_hash = $2 where id = $1', [user.id, known]);
    await logIn(app, user);
  });
});
