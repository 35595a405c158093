import { HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import {
  COMPONENTS,
  type ComponentName,
  type ComponentStatus,
  HealthComponents,
} from '../../src/platform/health-components.js';
import { Draining } from '../../src/platform/http/draining.js';
import { version } from '../../src/platform/config/process.js';
import { HealthService } from '../../src/health/health.service.js';
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
    'shows every component at %s to authorised callers',
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

  it('is degraded and ready if a component other than the database is down, and hides the cause', async () => {
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
      expect((await app.request('GET', '/health')).body.status).toBe('degraded');
    } finally {
      if (before) checks.set('llm', before);
      else checks.delete('llm');
    }
  });

  it('distinguishes components that make the service unhealthy', async () => {
    const overall = async (change: Partial<Record<ComponentName, ComponentStatus>>) => {
      const statuses: typeof change = { llm: 'disabled', ...change };
      const components = new HealthComponents();
      for (const name of COMPONENTS) {
        components.register(name, async () => ({ status: statuses[name] ?? 'healthy' }));
      }
      const indicators = new HealthIndicatorService();
      const checks = app.nest.get(HealthCheckService, { strict: false });
      const service = new HealthService(checks, indicators, components, new Draining());
      return (await service.brief()).status;
    };
    expect(await overall({})).toBe('healthy');
    expect(await overall({ kill_switch: 'degraded' })).toBe('degraded');
    expect(await overall({ llm: 'unhealthy' })).toBe('degraded');
    expect(await overall({ database: 'degraded' })).toBe('degraded');
    expect(await overall({ database: 'unhealthy' })).toBe('unhealthy');
  });

  it('is alive but not ready while it stops', async () => {
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
