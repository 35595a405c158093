import { setTimeout as sleep } from 'node:timers/promises';
import { as } from '../support/principals.js';
import { type Sample, samplesOf, samplesWith, scrape } from '../support/metrics.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** Sources are registered later; which routes answer what, only the errors of the server are known of. */
const LATER = ['webhook_received_total'];

describe('Counters of a service that has counted nothing', () => {
  let app: TestApp;
  let text: string;
  let samples: Sample[];
  beforeAll(async () => {
    app = await startTestApp();
    ({ text } = await app.request('GET', '/metrics'));
    samples = samplesOf(text);
  });
  afterAll(() => app.close());

  it('are there, with all combinations of their labels, at 0', () => {
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
    ['incidents_total', { type: 'phishing', severity: 'critical' }],
    ['incidents_total', { type: 'other', severity: 'low' }],
    ['actions_executed_total', { action_type: 'isolate_host', status: 'failed' }],
    ['action_failures_total', { action_type: 'isolate_host', code: 'outcome_unknown' }],
    ['webhook_errors_total', { source: 'other', code: 'unknown_source' }],
    ['llm_tokens_total', { direction: 'output' }],
    ['triage_duration_seconds_count', { status: 'failed' }],
    ['playbook_runs_total', { automatic: 'true', outcome: 'failed' }],
    ['notification_attempts_total', { type: 'slack', outcome: 'refused' }],
    ['notification_deliveries_dead_total', { type: 'slack' }],
    ['http_requests_total', { method: 'POST', route: '/api/incidents', status: '500' }],
    ['http_requests_total', { method: 'GET', route: '/api/incidents/:id', status: '503' }],
    ['http_requests_total', { method: 'other', route: 'unknown', status: '500' }],
  ])('such as %s of %j', (name, labels) => {
    expect(samplesWith(samples, name, labels).map(({ value }) => value)).toEqual([0]);
  });

  it('are there for a webhook source as soon as it is enabled, before anything arrives', async () => {
    const admin = await as(app, 'admin');
    const body = { source: 'siem', secret: 'a-secret-that-is-long-enough-0001', format: 'generic' };
    expect((await admin.request('POST', '/api/webhooks', { body })).status).toBe(201);
    // Scrapes within a second share one look.
    await sleep(1_100);
    const now = await scrape(app);
    expect(samplesWith(now, 'webhook_received_total', { source: 'siem' })).toHaveLength(1);
    const codes = samplesWith(now, 'webhook_errors_total', { source: 'siem' });
    expect(codes.map(({ value }) => value)).toEqual(codes.map(() => 0));
    expect(codes.map(({ labels }) => labels['code'])).toEqual(
      expect.arrayContaining(['invalid_signature', 'timestamp_expired', 'internal_error']),
    );
  });
});
