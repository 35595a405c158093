import { startTestApp, type TestApp } from '../support/test-app.js';

const PASSWORD = 'correct horse battery staple';

describe('the page of Swagger UI', () => {
  let app: TestApp;
  let headers: Record<string, string>;

  beforeAll(async () => {
    app = await startTestApp({ settings: { BOOTSTRAP_ADMIN_PASSWORD: PASSWORD } });
    const body = { username: 'admin', password: PASSWORD };
    const login = await app.request('POST', '/login', { body });
    headers = { cookie: String(login.headers['set-cookie']).split(';')[0]! };
  });
  afterAll(() => app.close());

  it('is found with a slash at the end, too', async () => {
    for (const options of [{ headers }, {}]) {
      const answer = await app.request('GET', '/docs/?x=1', options);
      expect([answer.status, answer.headers['location']]).toEqual([303, '/docs']);
    }
    expect((await app.request('HEAD', '/docs/', { headers })).status).toBe(303);
  });

  it('names its files by addresses that lead to them from wherever it is read', async () => {
    const page = await app.request('GET', '/docs', { headers });
    const named = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);
    expect(named).toEqual([
      '/docs/swagger-ui.css',
      '/docs/favicon-32x32.png',
      '/docs/swagger-ui-bundle.js',
      '/docs/start.js',
    ]);
    for (const address of named) {
      expect((await app.request('GET', address, { headers })).status).toBe(200);
    }
  });

  it('has no other files', async () => {
    const answer = await app.request('GET', '/docs/swagger-ui.js', { headers });
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
  });
});
