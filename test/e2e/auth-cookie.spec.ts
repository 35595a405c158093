import { makeUser, type TestUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const HTTPS = { 'x-forwarded-proto': 'https' };

describe('the cookie of a session', () => {
  let app: TestApp;
  let user: TestUser;

  beforeAll(async () => {
    app = await startTestApp({ settings: { TRUST_PROXY: '127.0.0.1/32' } });
    user = await makeUser(app, 'analyst');
  });

  afterAll(() => app.close());

  const logIn = async (headers: Record<string, string>) => {
    const { name: username, password } = user;
    const answer = await app.request('POST', '/login', { body: { username, password }, headers });
    expect(answer.status).toBe(200);
    return answer.headers['set-cookie']!;
  };
  const statusWith = async (headers: Record<string, string>) =>
    (await app.request('GET', '/api/me', { headers })).status;
  const tokenIn = (cookie: string) => /=([^;]+)/.exec(cookie)![1]!;

  it('is bound to the host and to https if the connection uses https', async () => {
    const cookies = await logIn(HTTPS);
    expect(cookies).toHaveLength(1);
    expect(cookies[0]).toMatch(
      /^__Host-its_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(await statusWith({ ...HTTPS, cookie: cookies[0]!.split(';')[0]! })).toBe(200);
  });

  it('has its plain name without https', async () => {
    expect((await logIn({}))[0]).toMatch(/^its_session=\S+ Path=\/; HttpOnly; SameSite=Lax$/);
  });

  it('has a fixed name for each kind of connection, so that a neighbouring host cannot set one', async () => {
    const secure = tokenIn((await logIn(HTTPS))[0]!);
    const plain = tokenIn((await logIn({}))[0]!);
    expect(await statusWith({ ...HTTPS, cookie: `its_session=${plain}` })).toBe(401);
    expect(await statusWith({ cookie: `__Host-its_session=${secure}` })).toBe(401);
    const both = `its_session=${'A'.repeat(43)}; __Host-its_session=${secure}`;
    expect(await statusWith({ ...HTTPS, cookie: both })).toBe(200);
  });

  it('is removed by the logout, which ends the session', async () => {
    const cookie = (await logIn(HTTPS))[0]!.split(';')[0]!;
    const out = await app.request('POST', '/logout', { headers: { ...HTTPS, cookie } });
    expect(out.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-its_session=; (?=.*(Max-Age=0|Expires=Thu, 01 Jan 1970))(?=.*Path=\/)(?=.*Secure)/,
      ),
    ]);
    expect(await statusWith({ ...HTTPS, cookie })).toBe(401);
  });

  it('loses its session if the browser sends it with a login', async () => {
    const cookie = (await logIn(HTTPS))[0]!.split(';')[0]!;
    await logIn({ ...HTTPS, cookie });
    expect(await statusWith({ ...HTTPS, cookie })).toBe(401);
  });
});
