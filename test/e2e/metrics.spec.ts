import { connect } from 'node:net';
import { eventually } from '../support/jobs/eventually.js';
import { type Sample, samplesOf, samplesWith, scrape } from '../support/metrics.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { createTestDatabase } from '../support/test-database.js';
import { useStarted } from '../support/use-started.js';

const app = useStarted(() => startTestApp());

/** Counters without samples at the start, because sources are registered later. */
const LATER = ['webhook_received_total'];

describe('Counters of a new service', () => {
  let text: string;
  let samples: Sample[];
  beforeAll(async () => {
    ({ text } = await app.get('/metrics'));
    samples = samplesOf(text);
  });

  it('are 0 for all combinations of their labels', () => {
    const counters = [...text.matchAll(/^# TYPE (\w+_total) counter$/gm)].map(([, name]) => name!);
    const ours = counters.filter((name) => !name.startsWith('process_') && !LATER.includes(name));
    expect(ours.length).toBeGreaterThan(6);
    for (const name of ours.filter((one) => one !== 'http_requests_total')) {
      const found = samplesWith(samples, name);
      const values = new Map<string, Set<string>>();
      for (const [label, value] of found.flatMap(({ labels }) => Object.entries(labels))) {
        values.set(label, (values.get(label) ?? new Set()).add(value));
      }
      const combinations = [...values.values()].reduce((product, { size }) => product * size, 1);
      expect([name, found.length]).toEqual([name, combinations]);
      expect([name, found.filter(({ value }) => value !== 0)]).toEqual([name, []]);
    }
  });

  it.each([
    ['triage_duration_seconds_count', { status: 'failed' }],
    ['http_requests_total', { method: 'GET', route: '/api/incidents/:id', status: '503' }],
  ])('include %s with %j at 0', (name, labels) => {
    expect(samplesWith(samples, name, labels).map(({ value }) => value)).toEqual([0]);
  });

  it('exist for a webhook source as soon as it is enabled, before its first event', async () => {
    const admin = await as(app, 'admin');
    const body = { source: 'siem', secret: 'a-secret-that-is-long-enough-0001', format: 'generic' };
    expect((await admin.post('/api/webhooks', body)).status).toBe(201);
    // Repeats the scrape, because scrapes within a second share one read of the database.
    const now = await eventually(
      () => scrape(app),
      (seen) => samplesWith(seen, 'webhook_received_total', { source: 'siem' }).length === 1,
    );
    const codes = samplesWith(now, 'webhook_errors_total', { source: 'siem' });
    expect(codes.map(({ value }) => value)).toEqual(codes.map(() => 0));
    expect(codes.map(({ labels }) => labels['code'])).toEqual(
      expect.arrayContaining(['invalid_signature', 'timestamp_expired', 'internal_error']),
    );
  });
});

describe('Metrics', () => {
  /** Gauges whose values do not come from the database. */
  const KNOWN_WITHOUT_DATABASE = [
    'database_up',
    'db_pool_connections_active',
    'http_requests_in_flight',
  ];
  const valueOf = async (name: string, labels: Record<string, string> = {}): Promise<number> =>
    samplesWith(await scrape(app), name, labels).reduce((sum, { value }) => sum + value, 0);

  it('count a request under its route template, method and status', async () => {
    const viewer = await as(app, 'viewer');
    const labels = { method: 'GET', route: '/api/incidents/:id', status: '404' };
    const before = await valueOf('http_requests_total', labels);
    await viewer.get('/api/incidents/0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e');
    await viewer.get('/api/incidents/nonsense');
    expect((await valueOf('http_requests_total', labels)) - before).toBe(2);
    expect(
      await valueOf('http_request_duration_seconds_count', { route: '/api/incidents/:id' }),
    ).toBeGreaterThanOrEqual(2);
  });

  it('have no series for names that a caller invents', async () => {
    const viewer = await as(app, 'viewer');
    const shower = async (i: number): Promise<number> => {
      const long = 'x'.repeat(400);
      for (const path of [`/nowhere-${i}`, `/api/nowhere/${i}`, `/docs/${i}`, `/api/%zz${i}`]) {
        await viewer.get(path);
      }
      for (const method of ['GET', 'HEAD', 'POST', 'PROPFIND', 'PATCH']) {
        await viewer.request(method, `/api/nowhere/${i}`);
        await viewer.request(method, `/api/incidents/${long}${i}?${i}=1`);
      }
      const series = (await scrape(app)).filter(({ name }) => name.startsWith('http_'));
      return new Set(series.map(({ name, labels }) => JSON.stringify([name, labels]))).size;
    };
    const seen = await shower(0);
    for (const i of [1_000, 1_001, 1_002]) expect(await shower(i)).toBe(seen);
    const requests = samplesWith(await scrape(app), 'http_requests_total');
    const methods = new Set(requests.map(({ labels }) => labels['method']));
    expect(methods).not.toContain('PROPFIND');
    expect(methods).toContain('other');
    const routes = requests.map(({ labels }) => labels['route']!);
    expect(routes.filter((one) => /\d/.test(one.replace('3.1', '')))).toEqual([]);
  });

  it('count no aborted or malformed request as in flight', async () => {
    for (const text of [
      'GET /health HTTP/1.1\r\nhost: a\r\n\r\n',
      'POST /api/incidents HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf',
      'GET /%zz HTTP/1.1\r\nhost: a\r\n\r\n',
      'nonsense\r\n\r\n',
    ]) {
      const socket = connect(app.port, '127.0.0.1');
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.write(text, resolve));
      socket.destroy();
    }
    // The scrape itself is also in flight.
    await eventually(async () => (await valueOf('http_requests_in_flight')) === 1);
  });

  it.each([
    ['is unavailable', 'redis://127.0.0.1:1', [0], 'degraded'],
    ['is not set', undefined, [], 'disabled'],
  ])('show whether Redis %s, while the service stays ready', async (_, url, up, status) => {
    // No server listens on this port.
    const settings = { ...(url && { REDIS_URL: url }) };
    await using other = await startTestApp({ database: app.database, settings });
    const samples = await scrape(other);
    expect(samplesWith(samples, 'redis_up').map(({ value }) => value)).toEqual(up);
    expect(samplesWith(samples, 'database_up').map(({ value }) => value)).toEqual([1]);
    const viewer = await as(other, 'viewer');
    expect((await viewer.get('/health/detailed')).body.components.redis.status).toBe(status);
    expect((await other.get('/ready')).status).toBe(200);
  });

  it('are served without a database, except values that only the database has', async () => {
    const database = await createTestDatabase();
    const METRICS_TOKEN = 'a-token-of-the-operators';
    await using lonely = await startTestApp({ database, settings: { METRICS_TOKEN } });
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    await database.drop();
    const answer = await lonely.get('/metrics', headers);
    expect(answer.status).toBe(200);
    const samples = samplesOf(answer.text);
    const gauges = [...answer.text.matchAll(/^# TYPE (\w+) gauge$/gm)].map(([, name]) => name!);
    const shown = gauges.filter((name) => samplesWith(samples, name).length > 0);
    const ours = shown.filter((name) => !/^(process|nodejs)_/.test(name));
    // The offset of the clock is shown for another minute, so it is excluded.
    const lasting = ours.filter((name) => name !== 'clock_offset_seconds');
    expect(lasting.toSorted()).toEqual(KNOWN_WITHOUT_DATABASE);
    expect(samplesWith(samples, 'database_up')[0]?.value).toBe(0);
    const { status, body } = await lonely.get('/health/detailed', headers);
    expect([status, body.components.database.status]).toEqual([503, 'unhealthy']);
    expect(body.components.kill_switch).not.toHaveProperty('active');
    expect(body.components.kill_switch.message).toMatch(/kill switch cannot be read/);
  });
});
