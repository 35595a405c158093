import { setTimeout as sleep } from 'node:timers/promises';
import { inSession, makeKey, makeUser } from '../support/principals.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const TOKEN = 'a-token-of-the-operators';
const withToken = { headers: { authorization: `Bearer ${TOKEN}` } };
/** Longer than a verified key is remembered. */
const FORGOTTEN_MS = 1_000;

describe.each(['cut', 'hang'] as const)(
  'The service with a database that is gone (connections %s)',
  (way) => {
    let database: TestDatabase;
    let proxy: TcpProxy;
    let app: TestApp;

    beforeAll(async () => {
      database = await createTestDatabase();
      const before = await TcpProxy.before(database.url);
      proxy = before.proxy;
      app = await startTestApp({
        database,
        settings: {
          DATABASE_URL: before.url,
          METRICS_TOKEN: TOKEN,
          DATABASE_STATEMENT_TIMEOUT_MS: '2000',
          DATABASE_CONNECT_TIMEOUT_MS: '1000',
        },
      });
    });

    afterAll(async () => {
      proxy.restore();
      proxy.cut();
      await app.close();
      await proxy.close();
      await database.drop();
    });

    it('closes what needs a role, keeps health and metrics, and recovers by itself', async () => {
      const key = await makeKey(app, 'admin');
      const user = await makeUser(app, 'viewer');
      const session = await inSession(app, user);
      expect((await key.client.request('GET', '/api/users')).status).toBe(200);
      proxy.hang();
      if (way === 'cut') proxy.cut();
      await sleep(FORGOTTEN_MS);

      for (const client of [key.client, session]) {
        const answer = await client.request('GET', '/api/me');
        expect([answer.status, answer.body.error.code]).toEqual([503, 'service_unavailable']);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      }
      const login = await app.request('POST', '/login', {
        body: { username: user.name, password: user.password },
      });
      expect(login.status).toBe(503);
      // No credentials need no database to be refused, and operators see what is wrong.
      expect((await app.request('GET', '/api/me')).status).toBe(401);
      const health = await app.request('GET', '/health/detailed', withToken);
      expect([health.status, health.body.components.database.status]).toEqual([503, 'unhealthy']);
      // A key cannot be judged now: that is told in the shape of every error, which the contract has beside health's own.
      const unknown = await key.client.request('GET', '/health/detailed');
      expect([unknown.status, unknown.body.error.code]).toEqual([503, 'service_unavailable']);
      expect((await key.client.request('GET', '/api/live')).status).toBe(503);
      expect((await app.request('GET', '/metrics', withToken)).status).toBe(200);
      expect((await app.request('GET', '/live')).status).toBe(200);
      expect((await app.request('GET', '/login')).status).toBe(200);

      proxy.restore();
      proxy.cut();
      const deadline = Date.now() + 60_000;
      let status = 0;
      while (status !== 200 && Date.now() < deadline) {
        status = (await key.client.request('GET', '/api/me')).status;
        await sleep(100);
      }
      expect(status).toBe(200);
    });
  },
);
