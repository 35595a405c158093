import { Bootstrap } from '../../src/auth/bootstrap.js';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/jobs/eventually.js';
import { inSession, logIn, makeUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { useStarted } from '../support/use-started.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const STRONG = 'seven herons over the lake';
const REMINDER = 'The generated password of admin from the first start is still in use';

describe('the password that the first start generated', () => {
  let database: TestDatabase;
  let dataDir: string;
  const apps: TestApp[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
    dataDir = join(tmpdir(), `its-made-up-${randomBytes(6).toString('hex')}`);
  });

  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close();
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const start = async (settings = {}): Promise<TestApp> => {
    // Without DATABASE_URL, the service treats any database as embedded.
    const embedded = {
      DATABASE_URL: '',
      DATA_DIR: dataDir,
      METRICS_TOKEN: 'a-token-for-monitoring',
    };
    const app = await startTestApp({ database, settings: { ...embedded, ...settings } });
    apps.push(app);
    return app;
  };
  const whoCanLogIn = (app: TestApp) => app.nest.get(Bootstrap).whoCanLogIn();
  const credentials = () =>
    JSON.parse(readFileSync(join(dataDir, 'bootstrap-credentials.json'), 'utf8')) as {
      password: string;
      api_key: string;
    };
  const post = (app: TestApp, path: string, fields: Record<string, string>, headers = {}) =>
    app.post(path, new URLSearchParams(fields).toString(), { ...FORM, ...headers });
  const logInByForm = (app: TestApp, password: string) =>
    post(app, '/login', { username: 'admin', password, next: '/docs?a=b' });
  const cookieOf = (answer: Awaited<ReturnType<typeof post>>) =>
    answer.headers['set-cookie']![0]!.split(';')[0]!;
  const access = async (app: TestApp) => {
    const headers = { authorization: 'Bearer a-token-for-monitoring' };
    const { body } = await app.get('/health/detailed', headers);
    return { status: body.status, ...body.components.access };
  };

  it('leads each login to the page for a new password, which the user may leave', async () => {
    const app = await start();
    const { password } = credentials();
    for (let login = 0; login < 2; login += 1) {
      const answer = await logInByForm(app, password);
      expect(answer.status).toBe(303);
      expect(answer.headers.location).toBe('/login/password?next=%2Fdocs%3Fa%3Db');
      const headers = { cookie: cookieOf(answer) };
      const page = await app.get(answer.headers.location!, headers);
      expect([page.status, page.headers['content-type']]).toEqual([
        200,
        'text/html; charset=utf-8',
      ]);
      expect(page.headers['content-security-policy']).toContain("form-action 'self'");
      expect(page.text).not.toMatch(/<script|onclick|javascript:/i);
      for (const text of [
        'the password that was generated at the first start',
        '<a href="/docs?a=b">Not now</a>',
        '<label for="current_password">',
        '<label for="new_password">',
        '<input id="new_password" name="new_password" type="password"',
        'autocomplete="new-password"',
        'aria-describedby="rules"',
      ])
        expect(page.text).toContain(text);
      // The user postpones the change of the password, and all pages still work.
      expect((await app.get('/docs', headers)).status).toBe(200);
    }
    // A login without a browser gets the usual response.
    expect((await app.post('/login', { username: 'admin', password })).status).toBe(200);

    // Only a new password that an admin sets counts as a change of the password. Other changes of the user do not
    // count.
    const key = app.client.with({ authorization: `Bearer ${credentials().api_key}` });
    const [{ id }] = (await key.get('/api/users')).body.data as [{ id: string }];
    await key.put(`/api/users/${id}`, { role: 'admin' });
    expect((await logInByForm(app, password)).headers.location).toMatch('/login/password');
    await key.put(`/api/users/${id}`, { password: STRONG });
    expect((await logInByForm(app, STRONG)).headers.location).toBe('/docs?a=b');
  });

  it('is reported by every start and by health until the user changes the password', async () => {
    const first = await start();
    const inUse = { made_up_password: true, message: expect.stringContaining(REMINDER) };
    expect(await access(first)).toMatchObject(inUse);
    const again = await start();
    for (const app of [first, again]) {
      const path = join(dataDir, 'bootstrap-credentials.json');
      expect(await whoCanLogIn(app)).toBe(
        `admin, with the password in ${path}; change it at /login/password`,
      );
    }
    const { password } = credentials();
    const cookie = cookieOf(await logInByForm(again, password));
    const change = (new_password: string, current_password = password) =>
      post(
        again,
        '/login/password',
        { current_password, new_password, next: '/docs?a=b' },
        { cookie, 'sec-fetch-site': 'same-origin' },
      );
    for (const [status, text, new_password, current_password] of [
      [401, 'role="alert">The current password is wrong.', STRONG, 'not the right one'],
      [422, 'too easy to guess', 'Password123!'],
      [422, 'The new password must be 12 to 256 characters', 'short'],
    ] as const) {
      const page = await change(new_password, current_password);
      expect([page.status, page.headers['content-type']]).toEqual([
        status,
        'text/html; charset=utf-8',
      ]);
      expect(page.text).toContain(text);
      expect(page.text).not.toContain('Password123!');
    }
    expect(await access(again)).toMatchObject(inUse);
    const changed = await change(STRONG);
    expect([changed.status, changed.headers.location]).toEqual([303, '/docs?a=b']);
    expect((await again.get('/api/me', { cookie })).status).toBe(200);
    expect((await logInByForm(again, STRONG)).headers.location).toBe('/docs?a=b');
    const reported = await eventually(
      () => access(again),
      ({ made_up_password }) => made_up_password === false,
    );
    expect(reported).not.toHaveProperty('message');
    expect(await whoCanLogIn(await start())).toBe('one user');
  });
});

describe('the page for a new password', () => {
  const app = useStarted(() =>
    startTestApp({ settings: { RATE_LIMIT_PERSON_WRITE: String(WRITES) } }),
  );

  const WRITES = 6;

  it('redirects a visitor without a session to the login, and back', async () => {
    const page = await app.get('/login/password');
    expect([page.status, page.headers.location]).toEqual([303, '/login?next=/login/password']);
    const form = await app.post(
      '/login/password',
      `current_password=a&new_password=${encodeURIComponent(STRONG)}`,
      FORM,
    );
    expect(form.status).toBe(401);
    expect(form.text).toContain('name="next" value="/login/password"');
    const json = await app.post('/login/password', { current_password: 'a', new_password: STRONG });
    expect([json.status, json.body.error.code]).toEqual([401, 'unauthorized']);
  });

  it('serves every user, and redirects to no other host', async () => {
    const user = await makeUser(app, 'viewer');
    const session = await inSession(app, user);
    const page = await session.get('/login/password?next=//evil.example');
    expect(page.text).toContain('<a href="/docs">Not now</a>');
    expect(page.text).not.toContain('first start');
    expect((await session.get('/login')).text).toContain('<a href="/login/password">');
    const body = { current_password: user.password, new_password: STRONG };
    // A request with a cookie must also show that it comes from this site.
    const cookie = await logIn(app, user);
    const silent = await app.post('/login/password', body, { cookie });
    expect([silent.status, silent.body.error.code]).toEqual([403, 'forbidden']);
    const wrong = await session.post('/login/password', {
      ...body,
      current_password: 'not this one',
    });
    expect([wrong.status, wrong.body.error.code]).toEqual([401, 'invalid_credentials']);
    expect(wrong.body.error.message).toBe('The current password is wrong.');
    const answer = await session.post('/login/password', body);
    expect([answer.status, answer.body.data.name]).toEqual([200, user.name]);
  });

  it('counts each change of a password as a write in the rate limits', async () => {
    const user = await makeUser(app, 'viewer');
    const session = await inSession(app, user);
    const body = { current_password: user.password, new_password: user.password };
    const statuses = [];
    for (let index = 0; index <= WRITES; index += 1) {
      statuses.push((await session.post('/login/password', body)).status);
    }
    expect(statuses).toEqual([...Array.from({ length: WRITES }, () => 422), 429]);
  });
});
