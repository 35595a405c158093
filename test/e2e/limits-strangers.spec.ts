import { logIn, makeUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const METRICS_TOKEN = 'a-token-of-the-metrics';
const PER_MINUTE = 60;

describe('What is open to all', () => {
  let app: TestApp;

  beforeAll(async () => {
    // So that each test may come from addresses of its own.
    app = await startTestApp({ settings: { TRUST_PROXY: '127.0.0.1/32', METRICS_TOKEN } });
  });

  afterAll(() => app.close());

  const post = (path: string, address: string, body?: string, headers: object = {}) =>
    app.request('POST', path, {
      body,
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...headers },
    });

  it('lets an address try to log in so many times a minute, whatever it sends', async () => {
    for (let count = 0; count < PER_MINUTE; count += 1) {
      const answer = await post('/login', '192.0.2.1', count % 2 ? '{' : '{"username":1}');
      expect(answer.status).toBe(count % 2 ? 400 : 422);
    }
    const refused = await post('/login', '192.0.2.1', '{');
    // Before the body is looked at.
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await post('/login', '192.0.2.2', '{')).status).toBe(400);
  });

  it('lets an address log out so many times, and whoever has a session always', async () => {
    const user = await makeUser(app, 'viewer');
    const cookie = await logIn(app, user);
    for (let count = 0; count < PER_MINUTE; count += 1) {
      expect((await post('/logout', '192.0.2.3')).status).toBe(200);
    }
    const refused = await post('/logout', '192.0.2.3', undefined, {
      cookie: 'its_session=nonsense',
    });
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    // Logging in has a count of its own.
    expect((await post('/login', '192.0.2.3', '{')).status).toBe(400);
    expect((await post('/logout', '192.0.2.3', undefined, { cookie })).status).toBe(200);
    const ended = await app.request('GET', '/api/me', { headers: { cookie } });
    expect(ended.status).toBe(401);
  });

  it.each([
    ['/login', '192.0.2.5'],
    ['/logout', '192.0.2.6'],
  ])('does not count what another site sends to %s', async (path, address) => {
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

  it('lets an address try so many wrong metrics tokens, and never refuses the right one', async () => {
    const scrape = (token: string) =>
      app.request('GET', '/metrics', {
        headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.4' },
      });
    for (let count = 0; count < PER_MINUTE; count += 1) {
      expect((await scrape(`wrong-token-number-${count}`)).status).toBe(401);
    }
    const refused = await scrape('wrong-token-again');
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await scrape(METRICS_TOKEN)).status).toBe(200);
  });
});
