import { HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import { isDeepStrictEqual } from 'node:util';
import { Client } from 'pg';
import { HealthService } from '../../src/health/health.service.js';
import { version } from '../../src/platform/config/process.js';
import {
  COMPONENTS,
  type ComponentName,
  type ComponentStatus,
  HealthComponents,
} from '../../src/platform/health-components.js';
import { Credentials } from '../../src/auth/credentials.js';
import { Draining } from '../../src/platform/http/listening.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

let app: TestApp;
const messages: unknown[] = [];

beforeAll(async () => {
  app = await startTestApp({
    settings: { METRICS_TOKEN: TOKEN, LOG_LEVEL: 'info' },
    log: { write: (line) => messages.push((JSON.parse(line) as { msg: unknown }).msg) },
  });
});

const TOKEN = 'a-token-for-monitoring';
const METRICS_KEY = { authorization: `Bearer ${TOKEN}` };

describe('health', () => {
  it.each(['', '/api'])('is the same at the prefix "%s"', async (prefix) => {
    const read = (path: string) =>
      app.request('GET', `${prefix}${path}`, prefix === '' ? {} : { headers: METRICS_KEY });
    const health = await read('/health');
    expect([health.status, health.body.version]).toEqual([200, version]);
    expect(['healthy', 'degraded']).toContain(health.body.status);
    expect(health.body).not.toHaveProperty('components');
    expect((await read('/live')).body).toEqual({ status: 'alive' });
    expect((await read('/ready')).body).toEqual({ status: 'ready' });
  });

  it.each(['/health/detailed', '/api/health/detailed'])(
    'shows every component at %s to authorised callers',
    async (path) => {
      const stranger = await app.get(path);
      expect([stranger.status, stranger.body.error.code]).toEqual([401, 'unauthorized']);
      const viewer = await as(app, 'viewer');
      for (const { body, status } of [await app.get(path, METRICS_KEY), await viewer.get(path)]) {
        expect(status).toBe(200);
        const names = ['database', 'llm', 'connectors', 'kill_switch', 'jobs', 'access'];
        expect(Object.keys(body.components)).toEqual(expect.arrayContaining(names));
        expect(body.components.database.status).toBe('healthy');
      }
    },
  );

  it('is degraded and ready if a component other than the database is down, and hides the cause', async () => {
    const components = app.nest.get(HealthComponents);
    const checks = (components as unknown as { checks: Map<string, unknown> }).checks;
    const before = checks.get('llm');
    checks.set('llm', () => Promise.reject(new Error('the key sk-123 is wrong')));
    try {
      const { status, body, text } = await eventually(
        () => app.get('/health/detailed', METRICS_KEY),
        (answer) => answer.body.components.llm.status === 'unhealthy',
      );
      expect([status, body.status]).toEqual([200, 'degraded']);
      expect(text).not.toContain('sk-123');
      expect((await app.get('/ready')).status).toBe(200);
      let isAsked = false;
      checks.set('llm', () => {
        isAsked = true;
        return new Promise(() => undefined);
      });
      // Repeats the request, because health results are cached for a short time.
      const brief = await eventually(
        () => app.get('/health'),
        () => isAsked,
      );
      expect(brief.body.status).toBe('degraded');
    } finally {
      if (before) checks.set('llm', before);
      else checks.delete('llm');
    }
  });

  it('is unhealthy only for failures of certain components', async () => {
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

  it('does not look up the session of a browser in the database', async () => {
    const lookUps = jest.spyOn(app.nest.get(Credentials), 'verify');
    const cookie = `its_session=${'x'.repeat(43)}`;
    for (const path of ['/live', '/ready', '/health']) await app.get(path, { cookie });
    expect(lookUps).not.toHaveBeenCalled();
    await app.get('/docs', { cookie });
    expect(lookUps).toHaveBeenCalledTimes(1);
    lookUps.mockRestore();
  });

  it('is live but not ready during a shutdown, and ends requests that wait for changes', async () => {
    await using stopping = await startTestApp({ database: app.database });
    const viewer = await as(stopping, 'viewer');
    const waiting = viewer.get('/api/incidents/changes?from=now&wait=30');
    await viewer.get('/api/incidents/changes?from=now&wait=1');
    stopping.nest.get(Draining).begun = true;
    expect((await waiting).body.data.changes).toEqual([]);
    const ready = await stopping.get('/ready');
    expect([ready.status, ready.body.checks]).toEqual([503, { service: 'stopping' }]);
    expect((await stopping.get('/live')).status).toBe(200);
  });
});

let admin: Client;

beforeAll(async () => {
  admin = new Client({ connectionString: app.database.url });
  await admin.connect();
});
afterAll(async () => {
  await admin?.end();
  await app?.close();
});

describe('health of a database that answers reads and refuses writes', () => {
  async function look() {
    const [ready, health, live] = await Promise.all(
      ['/ready', '/health', '/live'].map((path) => app.get(path)),
    );
    return {
      ready: [ready!.status, ready!.body.checks?.database],
      health: [health!.status, health!.body.status],
      live: live!.status,
    };
  }

  /** Runs `change` and expects an unhealthy service, then runs `undo` and expects a healthy service. */
  async function expectUnhealthy(cause: string, change: string[], undo: string[]) {
    const isWell = () => eventually(look, ({ ready, live }) => ready[0] === 200 && live === 200);
    await isWell();
    for (const statement of change) await admin.query(statement);
    try {
      const expected = { ready: [503, cause], health: [503, 'unhealthy'], live: 200 };
      // Repeats the requests, because health results are cached for a short time.
      expect(await eventually(look, (now) => isDeepStrictEqual(now, expected))).toEqual(expected);
      const { body } = await app.get('/health/detailed', METRICS_KEY);
      expect(body.components.database.status).toBe('unhealthy');
    } finally {
      for (const statement of undo) await admin.query(statement);
    }
    await isWell();
  }

  it('is unhealthy and not ready while the disk is full', async () => {
    const change = [
      `create function no_space() returns trigger language plpgsql as $$
       begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
      'create trigger no_space before insert on write_probe for each row execute function no_space()',
    ];
    await expectUnhealthy('disk full', change, ['drop trigger no_space on write_probe']);
    expect(messages).toContain('The database works again.');
  });

  it('is unhealthy and not ready while the database is read-only', async () => {
    const database = new URL(app.database.url).pathname.slice(1);
    const newConnections = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`;
    await expectUnhealthy(
      'read-only',
      [`alter database ${database} set default_transaction_read_only = on`, newConnections],
      [`alter database ${database} reset default_transaction_read_only`, newConnections],
    );
  });
});
