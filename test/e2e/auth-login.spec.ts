import crypto from 'node:crypto';
import type { Answer } from '../support/api-client.js';
import { makeUser, type TestUser, logIn } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const METRICS_TOKEN = 'a-token-of-the-metrics';
/** Each test uses its own address. */
const app = useStarted(() =>
  startTestApp({ settings: { TRUST_PROXY: '127.0.0.1/32', METRICS_TOKEN } }),
);

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const form = (fields: Record<string, string>, headers: Record<string, string> = {}) => ({
  body: new URLSearchParams(fields).toString(),
  headers: { ...FORM, ...headers },
});

describe('Login', () => {
  let user: TestUser;

  beforeAll(async () => {
    user = await makeUser(app, 'analyst');
  });

  const right = () => ({ username: user.name, password: user.password });
  const actions = async () =>
    await app.sql<{ actor: string; action: string; details: { reason?: string } }[]>(
      `select actor, action, details from audit_log where subject_id = $1 order by id`,
      [user.name],
    );

  it('shows a form that works without script, by keyboard and for a screen reader', async () => {
    const { status, headers, text } = await app.get('/login?next=/docs%23x&other=1');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toContain("form-action 'self'");
    expect(text).toContain('<html lang="en">');
    expect(text).not.toMatch(/<script|onclick|javascript:/i);
    for (const name of ['username', 'password']) {
      expect(text).toContain(`<label for="${name}">`);
      expect(text).toMatch(new RegExp(`<input id="${name}" name="${name}"`));
    }
    expect(text).toContain('autocomplete="username"');
    expect(text).toContain('autocomplete="current-password"');
    expect(text).toContain('autofocus');
    expect(text).toContain('value="/docs#x"');
    expect(text).not.toContain('role="alert"');
  });

  it('answers JSON with the principal and the end of the session', async () => {
    const answer = await app.post('/login', right());
    expect(answer.status).toBe(200);
    expect(answer.body.data.principal).toEqual({
      name: user.name,
      kind: 'user',
      role: 'analyst',
      approval_level: 'analyst',
    });
    const hours = (Date.parse(answer.body.data.expires_at) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24);
    const cookie = answer.headers['set-cookie']!;
    expect(cookie).toHaveLength(1);
    expect(cookie[0]).toMatch(/^its_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect((await actions()).at(-1)).toMatchObject({ actor: user.name, action: 'auth.login' });
  });

  it('accepts a user name that begins with a capital letter, as phones type it', async () => {
    const typed = { ...right(), username: ` ${user.name[0]!.toUpperCase()}${user.name.slice(1)} ` };
    expect((await app.post('/login', typed)).status).toBe(200);
  });

  it('redirects a form to the path in its field next', async () => {
    const answer = await app.request('POST', '/login', form({ ...right(), next: '/docs?a=b' }));
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe('/docs?a=b');
    expect(answer.headers['set-cookie']).toHaveLength(1);
    expect(answer.text).toBe('');
    const byQuery = await app.request('POST', '/login?next=/health', form(right()));
    expect(byQuery.headers.location).toBe('/health');
    expect((await app.request('POST', '/login', form(right()))).headers.location).toBe('/docs');
  });

  it('shows the page again after a failure, without the password and with all values escaped', async () => {
    const answer = await app.request(
      'POST',
      '/login',
      form({
        username: '"><script>alert(1)</script>',
        password: 'my secret guess',
        next: '/x"><b>',
      }),
    );
    expect(answer.status).toBe(401);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toContain("form-action 'self'");
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.text).toContain('role="alert"');
    expect(answer.text).toContain('The user name or the password is wrong.');
    expect(answer.text).toContain('&quot;&gt;&lt;script&gt;');
    expect(answer.text).not.toMatch(/<script|my secret guess|<b>/);
  });

  it.each([
    ['an unknown user', () => ({ username: 'nobody', password: 'wrong wrong wrong' })],
    ['a wrong password', () => ({ ...right(), password: 'wrong wrong wrong' })],
    ['a reserved name', () => ({ ...right(), username: 'system' })],
  ])('refuses %s with the same message', async (_, body) => {
    const answer = await app.post('/login', body());
    expect(answer.status).toBe(401);
    expect(answer.body.error).toMatchObject({
      code: 'invalid_credentials',
      message: 'The user name or the password is wrong.',
    });
    expect(answer.body.error.details).toBeUndefined();
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it('records a failed login under the address, and never records the typed name of an unknown user', async () => {
    const rows = await app.sql<{ actor: string; subject_id: string }[]>(
      `select * from audit_log where action = 'auth.login_failed'`,
    );
    expect(rows.length).toBeGreaterThan(2);
    expect(new Set(rows.map(({ actor }) => actor))).toEqual(new Set(['address:127.0.0.1']));
    expect(new Set(rows.map(({ subject_id }) => subject_id))).toEqual(
      new Set([user.name, 'unknown']),
    );
  });

  it.each([
    [{ username: 'a' }, 422],
    [{ username: 'someone', password: 'x', remember: true }, 422],
  ])('responds to the body %j with %d', async (body, status) => {
    const answer = await app.post('/login', body);
    expect(answer.status).toBe(status);
    expect(answer.body.error.code).toBe('validation_error');
  });

  it('shows missing fields in the page', async () => {
    const answer = await app.request('POST', '/login', form({ username: 'someone' }));
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('Enter a user name and a password.');
    expect(answer.text).toContain('value="someone"');
  });

  it.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
  ])('responds to the headers %j with %d', async (headers, status) => {
    const answer = await app.post('/login', right(), headers);
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.error.code).toBe('forbidden');
  });

  it('begins a new session with each login, and ends the previous session of the browser', async () => {
    const login = (headers = {}) => app.post('/login', right(), headers);
    const cookieOf = (answer: Awaited<ReturnType<typeof login>>) =>
      answer.headers['set-cookie']![0]!.split(';')[0]!;
    const planted = `its_session=${'A'.repeat(43)}`;
    const first = cookieOf(await login({ cookie: planted }));
    expect(first).not.toBe(planted);
    const second = cookieOf(await login({ cookie: first }));
    expect(second).not.toBe(first);
    const me = (cookie: string) => app.get('/api/me', { cookie });
    expect((await me(planted)).status).toBe(401);
    expect((await me(first)).status).toBe(401);
    expect((await me(second)).body.data.name).toBe(user.name);
  });

  it('shows the logged-in user and a logout button', async () => {
    const cookie = await logIn(app, user);
    const page = await app.get('/login', { cookie });
    expect(page.text).toContain(`You are logged in as <strong>${user.name}</strong>`);
    expect(page.text).toContain('<form method="post" action="/logout">');
  });

  it('ends the session at a logout, and returns the same response to a repeated logout', async () => {
    const cookie = await logIn(app, user);
    const cross = { cookie, 'sec-fetch-site': 'cross-site' };
    expect((await app.post('/logout', undefined, cross)).status).toBe(403);
    const out = await app.post('/logout', undefined, { cookie });
    expect(out.body).toEqual({ data: { logged_out: true } });
    expect(out.headers['set-cookie']![0]).toMatch(
      /^its_session=; .*(Max-Age=0|Expires=Thu, 01 Jan 1970)/,
    );
    expect((await app.get('/api/me', { cookie })).status).toBe(401);
    expect((await actions()).at(-1)).toMatchObject({ actor: user.name, action: 'auth.logout' });
    expect((await app.post('/logout', undefined, { cookie })).status).toBe(200);
    const asForm = await app.post('/logout', undefined, FORM);
    expect(asForm.status).toBe(303);
    expect(asForm.headers.location).toBe('/login');
  });
});

describe('the cookie of a session', () => {
  const HTTPS = { 'x-forwarded-proto': 'https' };
  let user: TestUser;

  beforeAll(async () => {
    user = await makeUser(app, 'analyst');
  });

  const cookiesOf = async (headers: Record<string, string>) => {
    const { name: username, password } = user;
    const answer = await app.post('/login', { username, password }, headers);
    expect(answer.status).toBe(200);
    return answer.headers['set-cookie']!;
  };
  const statusWith = async (headers: Record<string, string>) =>
    (await app.get('/api/me', headers)).status;
  const tokenIn = (cookie: string) => /=([^;]+)/.exec(cookie)![1]!;

  it('is bound to the host and to https if the connection uses https', async () => {
    const cookies = await cookiesOf(HTTPS);
    expect(cookies).toHaveLength(1);
    expect(cookies[0]).toMatch(
      /^__Host-its_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(await statusWith({ ...HTTPS, cookie: cookies[0]!.split(';')[0]! })).toBe(200);
    const host = { ...HTTPS, 'x-forwarded-host': 'triage.example' };
    await cookiesOf({ ...host, origin: 'https://triage.example' });
    const { name: username, password } = user;
    const headers = { ...host, origin: 'http://triage.example' };
    expect((await app.post('/login', { username, password }, headers)).status).toBe(403);
  });

  it('has a fixed name for each kind of connection, so that a neighbouring host cannot set the cookie', async () => {
    const secure = tokenIn((await cookiesOf(HTTPS))[0]!);
    const plain = tokenIn((await cookiesOf({}))[0]!);
    expect(await statusWith({ ...HTTPS, cookie: `its_session=${plain}` })).toBe(401);
    expect(await statusWith({ cookie: `__Host-its_session=${secure}` })).toBe(401);
    const both = `its_session=${'A'.repeat(43)}; __Host-its_session=${secure}`;
    expect(await statusWith({ ...HTTPS, cookie: both })).toBe(200);
  });
});

describe('Guessing passwords', () => {
  const guess = (address: string, username: string, password: string) =>
    app.post('/login', { username, password }, { 'x-forwarded-for': address });

  it('is throttled after ten failures in a minute, for any user name and even with the right password', async () => {
    const user = await makeUser(app, 'viewer');
    const statuses = [];
    for (let index = 0; index < 10; index += 1) {
      statuses.push((await guess('192.0.2.11', index % 2 ? user.name : 'nobody', 'wrong')).status);
    }
    expect(statuses).toEqual(Array(10).fill(401));
    const blocked = await guess('192.0.2.11', user.name, user.password);
    expect([blocked.status, blocked.body.error.code]).toEqual([429, 'rate_limited']);
    expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(0);
    // The user can still log in from another address.
    expect((await guess('192.0.2.12', user.name, user.password)).status).toBe(200);
    const fields = { username: 'a', password: 'b' };
    const page = await app.request(
      'POST',
      '/login',
      form(fields, { 'x-forwarded-for': '192.0.2.11' }),
    );
    expect(page.status).toBe(429);
    expect(page.text).toContain('Too many wrong passwords from this address');
  });

  it('is throttled even if the requests are concurrent', async () => {
    const user = await makeUser(app, 'viewer');
    const guesses = Array.from({ length: 59 }, (_, index) => `wrong ${index}`);
    const answers = await Promise.all(
      [...guesses, user.password].map((password) => guess('192.0.2.13', user.name, password)),
    );
    // The right password is rejected too, because it comes after the limit.
    expect(answers.at(-1)!.status).toBe(429);
    const failed = answers.filter(({ status }) => status === 401);
    expect(failed.length).toBeLessThanOrEqual(10);
    expect(answers.filter(({ status }) => status === 429).length).toBe(60 - failed.length);
  });

  it('costs one hash for each guess, so that response times do not show which users exist', async () => {
    const user = await makeUser(app, 'viewer');
    const disabled = await makeUser(app, 'viewer');
    await app.sql('update users set enabled = false where id = $1', [disabled.id]);
    const argon2 = jest.spyOn(crypto, 'argon2');
    const names = [user.name, 'nobody', disabled.name, '\u{1f600}'];
    for (const name of names) {
      expect((await guess('198.51.100.1', name, 'a wrong password')).status).toBe(401);
    }
    const costs = argon2.mock.calls.map(([, { memory, passes }]) => ({ memory, passes }));
    argon2.mockRestore();
    expect(costs).toEqual(names.map(() => ({ memory: 19_456, passes: 2 })));
  });
});

describe('The limits of public requests', () => {
  const PER_MINUTE = 60;

  const post = (path: string, address: string, body?: string, headers: object = {}) =>
    app.post(path, body, {
      'content-type': 'application/json',
      'x-forwarded-for': address,
      ...headers,
    });

  /** Expects this status for the first `PER_MINUTE` requests, and 429 for the next one. */
  const expectLimit = async (status: number, send: (count: number) => Promise<Answer>) => {
    for (let count = 0; count < PER_MINUTE; count += 1)
      expect((await send(count)).status).toBe(status);
    const refused = await send(PER_MINUTE);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  };

  it('count the login attempts of an address per minute, including malformed attempts', async () => {
    await expectLimit(400, () => post('/login', '192.0.2.1', '{'));
    expect((await post('/login', '192.0.2.2', '{"username":1}')).status).toBe(422);
  });

  it('count the logouts of an address separately from its logins, except logouts of a valid session', async () => {
    const cookie = await logIn(app, await makeUser(app, 'viewer'));
    await expectLimit(200, () => post('/logout', '192.0.2.3'));
    const nonsense = { cookie: 'its_session=nonsense' };
    expect((await post('/logout', '192.0.2.3', undefined, nonsense)).status).toBe(429);
    expect((await post('/login', '192.0.2.3', '{')).status).toBe(400);
    expect((await post('/logout', '192.0.2.3', undefined, { cookie })).status).toBe(200);
    expect((await app.get('/api/me', { cookie })).status).toBe(401);
  });

  it('count the wrong metrics tokens of an address, and never reject the right token', async () => {
    const scrape = (token: string) =>
      app.get('/metrics', { authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.4' });
    await expectLimit(401, (count) => scrape(`wrong-token-number-${count}`));
    expect((await scrape(METRICS_TOKEN)).status).toBe(200);
  });

  it.each([
    ['/login', '192.0.2.5'],
    ['/logout', '192.0.2.6'],
  ])('do not count cross-site requests to %s', async (path, address) => {
    const user = await makeUser(app, 'viewer');
    const elsewhere = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' };
    for (let count = 0; count <= PER_MINUTE; count += 1) {
      expect((await post(path, address, '{}', elsewhere)).status).toBe(403);
    }
    const body = JSON.stringify({ username: user.name, password: user.password });
    const login = await post('/login', address, body);
    expect(login.status).toBe(200);
    expect(login.headers['x-ratelimit-remaining']).toBe(String(PER_MINUTE - 1));
    const logout = await post('/logout', address);
    expect(logout.headers['x-ratelimit-remaining']).toBe(String(PER_MINUTE - 1));
  });
});
