import { inSession, makeKey, makeUser } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const TOKEN = 'a-token-of-the-operators';
const withToken = { headers: { authorization: `Bearer ${TOKEN}` } };

describe('METRICS_TOKEN', () => {
  const app = useStarted(() => startTestApp({ settings: { METRICS_TOKEN: TOKEN } }));

  it('grants access only to metrics and detailed health', async () => {
    expect((await app.request('GET', '/metrics', withToken)).status).toBe(200);
    expect((await app.request('GET', '/health/detailed', withToken)).status).toBe(200);
    expect((await app.request('GET', '/api/health/detailed', withToken)).status).toBe(200);
    expect((await app.request('GET', '/api/me', withToken)).status).toBe(401);
    expect((await app.request('GET', '/api/users', withToken)).status).toBe(401);
  });

  it.each(['', `${TOKEN} `, TOKEN.slice(1), `${TOKEN}x`, TOKEN.toUpperCase()])(
    'is rejected if it is sent as %j',
    async (token) => {
      const near = { headers: { authorization: `Bearer ${token}` } };
      const expected = token.trim() === TOKEN ? 200 : 401;
      expect((await app.request('GET', '/metrics', near)).status).toBe(expected);
      expect((await app.request('GET', '/health/detailed', near)).status).toBe(expected);
    },
  );

  it('is needed for metrics, but not for detailed health, by a caller with a key or a session', async () => {
    const { client } = await makeKey(app, 'viewer');
    expect((await client.get('/health/detailed')).status).toBe(200);
    expect((await client.get('/metrics')).status).toBe(401);
    const session = await inSession(app, await makeUser(app, 'viewer'));
    expect((await session.get('/health/detailed')).status).toBe(200);
  });

  it('leaves detailed health protected and metrics open if the setting is absent', async () => {
    await using open = await startTestApp({ database: app.database });
    expect((await open.get('/metrics')).status).toBe(200);
    expect((await open.request('GET', '/metrics', withToken)).status).toBe(200);
    expect((await open.get('/health/detailed')).status).toBe(401);
    expect((await open.request('GET', '/health/detailed', withToken)).status).toBe(401);
  });
});
