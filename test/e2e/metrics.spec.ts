import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { samplesOf, samplesWith, scrape } from '../support/metrics.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase } from '../support/test-database.js';

/** Name, type and labels, as operators' dashboards and alerts rely on them. */
const NAMES: readonly (readonly [string, string])[] = [
  ['http_requests_total', 'counter'],
  ['http_request_duration_seconds', 'histogram'],
  ['http_requests_in_flight', 'gauge'],
  ['db_pool_connections_active', 'gauge'],
  ['database_up', 'gauge'],
  ['redis_up', 'gauge'],
  ['incidents_total', 'counter'],
  ['actions_executed_total', 'counter'],
  ['action_failures_total', 'counter'],
  ['webhook_received_total', 'counter'],
  ['webhook_errors_total', 'counter'],
  ['webhook_events', 'gauge'],
  ['triage_runs', 'gauge'],
  ['triage_duration_seconds', 'histogram'],
  ['llm_tokens_total', 'counter'],
  ['approvals_pending', 'gauge'],
  ['approvals_oldest_seconds', 'gauge'],
  ['approval_wait_seconds', 'histogram'],
  ['kill_switch_active', 'gauge'],
  ['jobs_waiting', 'gauge'],
  ['jobs_dead', 'gauge'],
  ['audit_unsealed', 'gauge'],
  ['audit_oldest_unsealed_seconds', 'gauge'],
  ['audit_chain_ok', 'gauge'],
  ['playbook_runs_total', 'counter'],
  ['playbook_runs', 'gauge'],
  ['playbook_runs_oldest_due_seconds', 'gauge'],
  ['playbook_steps_failed_total', 'counter'],
  ['flow_oldest_waiting_seconds', 'gauge'],
  ['connector_up', 'gauge'],
  ['notification_attempts_total', 'counter'],
  ['notification_deliveries_dead_total', 'counter'],
  ['notification_channel_up', 'gauge'],
  ['notifications_waiting', 'gauge'],
];

/** What this process knows by itself. */
const KNOWN_WITHOUT_DATABASE = [
  'database_up',
  'db_pool_connections_active',
  'http_requests_in_flight',
];

describe('Metrics', () => {
  let app: TestApp;
  const valueOf = async (name: string, labels: Record<string, string> = {}): Promise<number> =>
    samplesWith(await scrape(app), name, labels).reduce((sum, { value }) => sum + value, 0);

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it('are there under their names, of their types', async () => {
    const viewer = await as(app, 'viewer');
    const { text, headers } = await viewer.request('GET', '/api/metrics');
    expect(headers['content-type']).toMatch(/^text\/plain/);
    for (const [name, type] of NAMES) expect(text).toContain(`# TYPE ${name} ${type}\n`);
    expect(headers['x-ratelimit-limit']).toBeUndefined();
  });

  it('count a request under its template, method and status', async () => {
    const viewer = await as(app, 'viewer');
    const labels = { method: 'GET', route: '/api/incidents/:id', status: '404' };
    const before = await valueOf('http_requests_total', labels);
    await viewer.request('GET', '/api/incidents/0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e');
    await viewer.request('GET', '/api/incidents/nonsense');
    expect((await valueOf('http_requests_total', labels)) - before).toBe(2);
    expect(
      await valueOf('http_request_duration_seconds_count', { route: '/api/incidents/:id' }),
    ).toBeGreaterThanOrEqual(2);
  });

  it('grow by nothing that a caller invents', async () => {
    const routes = async () =>
      new Set(
        (await scrape(app))
          .filter(({ name }) => name.startsWith('http_'))
          .map(
            ({ name, labels }) =>
              `${name} ${labels['method']} ${labels['route']} ${labels['status']} ${labels['le']}`,
          ),
      ).size;
    const viewer = await as(app, 'viewer');
    const paths = (i: number) => [
      `/nowhere-${i}`,
      `/api/nowhere/${i}`,
      `/api/incidents/${i}`,
      `/api/incidents?${i}=1`,
      `/docs/${i}`,
      `/api/%zz${i}`,
      `/%${i}`,
      `/api/incidents/${'x'.repeat(400)}${i}`,
    ];
    const shower = async (from: number) => {
      for (let i = from; i < from + 15; i += 1) {
        for (const path of paths(i)) await viewer.request('GET', path);
        for (const method of ['HEAD', 'POST', 'PROPFIND', 'QUERY', 'OPTIONS', 'PATCH']) {
          await viewer.request(method, `/api/nowhere/${i}`);
          await viewer.request(method, `/api/incidents/${i}`);
        }
      }
    };
    await shower(0);
    const seen = await routes();
    await shower(1_000);
    expect(await routes()).toBe(seen);
    const samples = await scrape(app);
    const http = samples.filter(({ name }) => name === 'http_requests_total');
    const methods = new Set(http.map(({ labels }) => labels['method']));
    for (const method of methods) {
      expect(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other']).toContain(
        method,
      );
    }
    expect(methods).toContain('other');
    const named = http.map(({ labels }) => labels['route']!);
    expect(named.filter((one) => /\d/.test(one.replace('3.1', '')))).toEqual([]);
  });

  it('forget no request that was given up, and none that was never one', async () => {
    for (const text of [
      'GET /health HTTP/1.1\r\nhost: a\r\n\r\n',
      'POST /api/incidents HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf',
      'GET /%zz HTTP/1.1\r\nhost: a\r\n\r\n',
      'nonsense\r\n\r\n',
    ]) {
      const socket = connect(app.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(text);
      await sleep(30);
      socket.destroy();
      await sleep(100);
      // The scrape itself is one.
      expect([text, await valueOf('http_requests_in_flight')]).toEqual([text, 1]);
    }
  });

  it('show the pool as it is', async () => {
    expect(await valueOf('db_pool_connections_active')).toBeGreaterThanOrEqual(0);
    expect(await valueOf('jobs_waiting')).toBeGreaterThanOrEqual(0);
    expect(await valueOf('kill_switch_active')).toBe(0);
  });

  it('tell that the database is there, and nothing of Redis where none is set', async () => {
    const samples = await scrape(app);
    expect(samplesWith(samples, 'database_up').map(({ value }) => value)).toEqual([1]);
    expect(samplesWith(samples, 'redis_up')).toEqual([]);
    const viewer = await as(app, 'viewer');
    const { body } = await viewer.request('GET', '/health/detailed');
    expect(body.components.redis.status).toBe('disabled');
  });

  it('tell that Redis is away where one is set', async () => {
    // The port of nobody: it is not to be used, and so nobody listens there.
    const lonely = await startTestApp({
      database: app.database,
      settings: { REDIS_URL: 'redis://127.0.0.1:1' },
    });
    try {
      const [up] = samplesWith(await scrape(lonely), 'redis_up');
      expect(up?.value).toBe(0);
      const viewer = await as(lonely, 'viewer');
      const { status, body } = await viewer.request('GET', '/health/detailed');
      expect([status, body.components.redis.status]).toEqual([200, 'degraded']);
      expect((await lonely.request('GET', '/ready')).status).toBe(200);
    } finally {
      await lonely.close();
    }
  });

  it('are there without a database, but for what only the database knows', async () => {
    const database = await createTestDatabase();
    const METRICS_TOKEN = 'a-token-of-the-operators';
    const lonely = await startTestApp({ database, settings: { METRICS_TOKEN } });
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    try {
      await database.drop();
      const answer = await lonely.request('GET', '/metrics', { headers });
      expect(answer.status).toBe(200);
      const samples = samplesOf(answer.text);
      const gauges = [...answer.text.matchAll(/^# TYPE (\w+) gauge$/gm)].map(([, name]) => name!);
      const shown = gauges.filter((name) => samplesWith(samples, name).length > 0);
      const ours = shown.filter((name) => !/^(process|nodejs)_/.test(name));
      // How the clocks differ is known for another minute.
      const lasting = ours.filter((name) => name !== 'clock_offset_seconds');
      expect(lasting.toSorted()).toEqual(KNOWN_WITHOUT_DATABASE);
      expect(samplesWith(samples, 'database_up')[0]?.value).toBe(0);
      const { status, body } = await lonely.request('GET', '/health/detailed', { headers });
      expect([status, body.components.database.status]).toEqual([503, 'unhealthy']);
      expect(body.components.kill_switch).not.toHaveProperty('active');
      expect(body.components.kill_switch.message).toMatch(/state is unknown/);
    } finally {
      await lonely.close();
    }
  });
});
