import { DataSource } from 'typeorm';
import { makeUser, type TestUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const form = (fields: Record<string, string>, headers: Record<string, string> = {}) => ({
  body: new URLSearchParams(fields).toString(),
  headers: { ...FORM, ...headers },
});

describe('Login', () => {
  let app: TestApp;
  let user: TestUser;

  beforeAll(async () => {
    app = await startTestApp();
    user = await makeUser(app, 'analyst');
  });

  afterAll(() => app.close());

  const right = () => ({ username: user.name, password: user.password });
  const actions = async () =>
    await app.nest
      .get(DataSource)
      .query<{ actor: string; action: string; details: { reason?: string } }[]>(
        `select actor, action, details from audit_log where subject_id = $1 order by id`,
        [user.name],
      );

  it('shows a form that works without script, by keyboard and for a screen reader', async () => {
    const { status, headers, text } = await app.request('GET', '/login?next=/docs%23x&other=1');
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
    const answer = await app.request('POST', '/login', { body: right() });
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

  it('accepts a user name that begins with a capital letter, as telephones type it', async () => {
    const typed = { ...right(), username: ` ${user.name[0]!.toUpperCase()}${user.name.slice(1)} ` };
    expect((await app.request('POST', '/login', { body: typed })).status).toBe(200);
  });

  it('redirects a form to the path in next', async () => {
    const answer = await app.request('POST', '/login', form({ ...right(), next: '/docs?a=b' }));
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe('/docs?a=b');
    expect(answer.headers['set-cookie']).toHaveLength(1);
    expect(answer.text).toBe('');
    const byQuery = await app.request('POST', '/login?next=/health', form(right()));
    expect(byQuery.headers.location).toBe('/health');
    expect((await app.request('POST', '/login', form(right()))).headers.location).toBe('/docs');
  });

  it.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/%2fevil.example',
    '/%5cevil.example',
    '/%252fevil.example',
    '/\tevil',
    '/\n/evil.example',
    '/%09/evil.example',
    '/%0d%0aset-cookie:a=b',
    ' /docs',
    'docs',
    'javascript:alert(1)',
    '/.//evil.example',
    '/../\u2028/x',
    '/%',
  ])('does not redirect to %j', async (next) => {
    const answer = await app.request('POST', '/login', form({ ...right(), next }));
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe('/docs');
  });

  it('does not redirect to an overlong path', async () => {
    const next = `/${'x'.repeat(2_000)}`;
    const answer = await app.request('POST', '/login', form({ ...right(), next }));
    expect(answer.headers.location).toBe('/docs');
  });

  it('shows the page again after a failure, without the password and with everything escaped', async () => {
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
    ['a name that cannot be one', () => ({ ...right(), username: 'a\u00e9\u{1f600}' })],
    ['a reserved name', () => ({ ...right(), username: 'system' })],
  ])('refuses %s with the same message', async (_, body) => {
    const answer = await app.request('POST', '/login', { body: body() });
    expect(answer.status).toBe(401);
    expect(answer.body.error).toMatchObject({
      code: 'invalid_credentials',
      message: 'The user name or the password is wrong.',
    });
    expect(answer.body.error.details).toBeUndefined();
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it('records a failed login under the address, and never what was typed for an unknown user', async () => {
    const rows = await app.nest.get(DataSource).query<
      {
        actor: string;
        subject_id: string;
      }[]
    >(`select * from audit_log where action = 'auth.login_failed'`);
    expect(rows.length).toBeGreaterThan(2);
    expect(new Set(rows.map(({ actor }) => actor))).toEqual(new Set(['address:127.0.0.1']));
    expect(new Set(rows.map(({ subject_id }) => subject_id))).toEqual(
      new Set([user.name, 'unknown']),
    );
  });

  it.each([
    [{}, 422],
    [{ username: 'a' }, 422],
    [{ username: '', password: '' }, 422],
    [{ username: 1, password: {} }, 422],
    [{ username: 'someone', password: 'x', remember: true }, 422],
  ])('answers the body %j with %d', async (body, status) => {
    const answer = await app.request('POST', '/login', { body });
    expect(answer.status).toBe(status);
    expect(answer.body.error.code).toBe('validation_error');
  });

  it('shows missing fields in the page', async () => {
    const answer = await app.request('POST', '/login', form({ username: 'someone' }));
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('Enter a user name and a password.');
    expect(answer.text).toContain('value="someone"');
  });

  it('refuses other media types with an error in JSON', async () => {
    const answer = await app.request('POST', '/login', {
      body: 'username=a',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(415);
    expect(answer.body.error.code).toBe('unsupported_media_type');
    expect(answer.body.error.message).toBe(
      'The body must be application/json or application/x-www-form-urlencoded in UTF-8.',
    );
  });

  it.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'http://HOST' }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ origin: 'http://HOST' }, 200],
    [{}, 200],
  ])('answers a request with the headers %j by %d', async (headers, status) => {
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        value.replace('HOST', `127.0.0.1:${app.port}`),
      ]),
    );
    const answer = await app.request('POST', '/login', { body: right(), headers: given });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body.error.code).toBe('forbidden');
  });

  it('begins a new session with each login, and ends the previous one of the browser', async () => {
    const login = (headers = {}) => app.request('POST', '/login', { body: right(), headers });
    const cookieOf = (answer: Awaited<ReturnType<typeof login>>) =>
      answer.headers['set-cookie']![0]!.split(';')[0]!;
    const planted = `its_session=${'A'.repeat(43)}`;
    const first = cookieOf(await login({ cookie: planted }));
    expect(first).not.toBe(planted);
    const second = cookieOf(await login({ cookie: first }));
    expect(second).not.toBe(first);
    const me = (cookie: string) => app.request('GET', '/api/me', { headers: { cookie } });
    expect((await me(planted)).status).toBe(401);
    expect((await me(first)).status).toBe(401);
    expect((await me(second)).body.data.name).toBe(user.name);
  });

  it('shows the logged-in user and a logout button', async () => {
    const login = await app.request('POST', '/login', { body: right() });
    const cookie = login.headers['set-cookie']![0]!.split(';')[0]!;
    const page = await app.request('GET', '/login', { headers: { cookie } });
    expect(page.text).toContain(`You are logged in as <strong>${user.name}</strong>`);
    expect(page.text).toContain('<form method="post" action="/logout">');
  });

  it('logs out, and gives the same answer the second time', async () => {
    const login = await app.request('POST', '/login', { body: right() });
    const cookie = login.headers['set-cookie']![0]!.split(';')[0]!;
    const cross = { cookie, 'sec-fetch-site': 'cross-site' };
    expect((await app.request('POST', '/logout', { headers: cross })).status).toBe(403);
    const out = await app.request('POST', '/logout', { headers: { cookie } });
    expect(out.body).toEqual({ data: { logged_out: true } });
    expect(out.headers['set-cookie']![0]).toMatch(
      /^its_session=; .*(Max-Age=0|Expires=Thu, 01 Jan 1970)/,
    );
    expect((await app.request('GET', '/api/me', { headers: { cookie } })).status).toBe(401);
    expect((await actions()).at(-1)).toMatchObject({ actor: user.name, action: 'auth.logout' });
    expect((await app.request('POST', '/logout', { headers: { cookie } })).status).toBe(200);
    const asForm = await app.request('POST', '/logout', { headers: FORM });
    expect(asForm.status).toBe(303);
    expect(asForm.headers.location).toBe('/login');
  });
});

describe('The session cookie behind https', () => {
  it('is Secure, and only where the proxy is trusted', async () => {
    const app = await startTestApp({ settings: { TRUST_PROXY: '127.0.0.1/32' } });
    const direct = await startTestApp({ database: app.database });
    try {
      const user = await makeUser(app, 'viewer');
      const body = { username: user.name, password: user.password };
      const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'triage.example' };
      const flags = async (where: TestApp, extra = {}) =>
        (await where.request('POST', '/login', { body, headers: { ...headers, ...extra } }))
          .headers['set-cookie']?.[0];
      expect(await flags(app)).toMatch(/; HttpOnly; Secure; SameSite=Lax$/);
      expect(await flags(app, { origin: 'https://triage.example' })).toContain('Secure');
      expect(await flags(app, { origin: 'http://triage.example' })).toBeUndefined();
      expect(await flags(direct)).not.toContain('Secure');
    } finally {
      await direct.close();
      await app.close();
    }
  });
});
