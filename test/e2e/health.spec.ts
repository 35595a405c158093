import { HealthComponents } from '../../src/platform/health-components.js';
import { Draining } from '../../src/platform/http/draining.js';
import { version } from '../../src/platform/config/version.js';
import { overallOf } from '../../src/health/health.service.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const TOKEN = 'a-token-for-monitoring';
const METRICS_KEY = { authorization: `Bearer ${TOKEN}` };

describe('health', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ settings: { METRICS_TOKEN: TOKEN } });
  });
  afterAll(() => app.close());

  it.each(['', '/api'])('answers the same under "%s"', async (prefix) => {
    const read = (path: string) =>
      app.request('GET', `${prefix}${path}`, prefix === '' ? {} : { headers: METRICS_KEY });
    const health = await read('/health');
    expect([health.status, health.body.version]).toEqual([200, version]);
    expect(['healthy', 'degraded']).toContain(health.body.status);
    expect(health.body).not.toHaveProperty('components');
    expect((await read('/live')).body).toEqual({ status: 'alive' });
    expect((await read('/ready')).body).toEqual({ status: 'ready' });
  });

  it.each(['/api/health', '/api/live', '/api/ready', '/api/metrics'])(
    'needs a key, a session or the token at %s, as everything under /api',
    async (path) => {
      const stranger = await app.request('GET', path);
      expect([stranger.status, stranger.body.error.code]).toEqual([401, 'unauthorized']);
      expect(stranger.headers['www-authenticate']).toBe('Bearer');
      const viewer = await as(app, 'viewer');
      expect((await viewer.request('GET', path)).status).toBe(200);
      expect((await app.request('GET', path, { headers: METRICS_KEY })).status).toBe(200);
    },
  );

  it.each(['/health/detailed', '/api/health/detailed'])(
    'tells every part at %s, to who may know',
    async (path) => {
      const stranger = await app.request('GET', path);
      expect([stranger.status, stranger.body.error.code]).toEqual([401, 'unauthorized']);
      const viewer = await as(app, 'viewer');
      for (const { body, status } of [
        await app.request('GET', path, { headers: METRICS_KEY }),
        await viewer.request('GET', path),
      ]) {
        expect(status).toBe(200);
        expect(Object.keys(body.components)).toEqual(
          expect.arrayContaining([
            'database',
            'llm',
            'connectors',
            'kill_switch',
            'jobs',
            'notifications',
            'access',
          ]),
        );
        expect(body.components.database.status).toBe('healthy');
      }
    },
  );

  it('is degraded and ready when another part than the database is down, and says nothing of the cause', async () => {
    const components = app.nest.get(HealthComponents);
    const checks = (components as unknown as { checks: Map<string, unknown> }).checks;
    const before = checks.get('llm');
    components.register('llm', () => Promise.reject(new Error('the key sk-123 is wrong')));
    try {
      await new Promise((resolve) => setTimeout(resolve, 600));
      const { status, body, text } = await app.request('GET', '/health/detailed', {
        headers: METRICS_KEY,
      });
      expect([status, body.status, body.components.llm.status]).toEqual([
        200,
        'degraded',
        'unhealthy',
      ]);
      expect(text).not.toContain('sk-123');
      expect((await app.request('GET', '/ready')).status).toBe(200);
      components.register('llm', () => new Promise(() => undefined));
      await new Promise((resolve) => setTimeout(resolve, 600));
      const begin = performance.now();
      expect((await app.request('GET', '/health')).body.status).toBe('degraded');
      expect(performance.now() - begin).toBeLessThan(4_000);
    } finally {
      if (before) checks.set('llm', before);
      else checks.delete('llm');
    }
  });

  it('knows which part makes the whole unhealthy', () => {
    const all = (change: object) =>
      ({
        database: { status: 'healthy' },
        llm: { status: 'disabled' },
        connectors: { status: 'healthy' },
        kill_switch: { status: 'healthy' },
        jobs: { status: 'healthy' },
        notifications: { status: 'healthy' },
        ...change,
      }) as Parameters<typeof overallOf>[0];
    expect(overallOf(all({}))).toBe('healthy');
    expect(overallOf(all({ kill_switch: { status: 'degraded' } }))).toBe('degraded');
    expect(overallOf(all({ llm: { status: 'unhealthy' } }))).toBe('degraded');
    expect(overallOf(all({ database: { status: 'unhealthy' } }))).toBe('unhealthy');
  });

  it('is not ready while it stops, and alive', async () => {
    const stopping = await startTestApp({ database: app.database });
    stopping.nest.get(Draining).begin();
    try {
      const ready = await stopping.request('GET', '/ready');
      expect([ready.status, ready.body.checks]).toEqual([503, { service: 'stopping' }]);
      expect((await stopping.request('GET', '/live')).status).toBe(200);
    } finally {
      await stopping.close();
    }
  });
});
