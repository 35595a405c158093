import { Gauge, Registry } from 'prom-client';
import { FlowLag } from '../../src/attention/flow-lag.js';
import { HealthComponents } from '../../src/platform/health-components.js';
import { newId } from '../../src/platform/ids.js';
import { ScrapedGauges } from '../../src/platform/metrics/scraped-gauges.js';
import { useTestDatabase } from '../support/open-test-database.js';

const MINUTE = 60;

describe('the lag of the flow', () => {
  const { query, statements } = useTestDatabase();
  let components: HealthComponents;
  let gauges: ScrapedGauges;
  const gauge = new Gauge({
    name: 'flow_oldest_waiting_seconds',
    help: 'Of a test.',
    labelNames: ['stage'] as const,
    registers: [new Registry()],
  });

  // A gauge caches its value, so each test has new gauges.
  beforeEach(() => {
    components = new HealthComponents();
    components.register('jobs', async () => ({ status: 'healthy' }));
    gauges = new ScrapedGauges();
    new FlowLag(statements, components, gauges, gauge).onModuleInit();
  });
  afterEach(() => gauges.onModuleDestroy());

  const lags = async () =>
    Object.fromEntries(
      (await gauge.get()).values.map(({ labels, value }) => [labels.stage, value]),
    );

  it('is 0 for queues in which nothing waits', async () => {
    expect(await lags()).toEqual({
      receipts: 0,
      events: 0,
      triage: 0,
      playbooks: 0,
      actions: 0,
      notifications: 0,
    });
    expect(await components.check('jobs')).toMatchObject({ oldest_waiting_seconds: 0 });
  });

  it('is the time that the first of each queue has waited', async () => {
    const at = new Date();
    const incident = newId(at.getTime());
    await query(
      `with incident as (
         insert into incidents (id, incident_type, severity, status, source, title, raw_data, fields, created_by, created_at, updated_at, version)
         values ($1, 'malware', 'high', 'open', 'test', 'test', '{}', '{}', 'test', $3, $3, 1)),
       event as (
         insert into work (kind, ref, lane, urgency, ready, due_at)
         select 'event.test', gen_random_uuid(), 'event.test', 2, true, now() - minutes * interval '1 minute'
           from generate_series(2, 1, -1) as minutes),
       lane as (insert into work_lanes (lane, types) values ('event.test', '{test}')),
       action as (
         insert into work (kind, ref, lane, urgency, ready, due_at)
         select 'action', gen_random_uuid(), 'action.test', 2, minutes > 0, now() - minutes * interval '1 minute'
           from generate_series(3, -1, -1) as minutes)
       insert into triage_runs (id, incident_id, status, requested_by, provider, lease_until, created_at)
       values ($2, $1, 'queued', 'system', 'heuristic', now() - interval '5 minutes', now() - interval '5 minutes')`,
      [incident, newId(), at],
    );
    const { events, triage, actions, receipts } = await lags();
    expect(Math.round(events! / MINUTE)).toBe(2);
    expect(Math.round(triage! / MINUTE)).toBe(5);
    expect(Math.round(actions! / MINUTE)).toBe(3);
    expect(receipts).toBe(0);
    const { oldest_waiting_seconds } = (await components.check('jobs')) as {
      oldest_waiting_seconds?: number;
    };
    expect(Math.round(oldest_waiting_seconds! / MINUTE)).toBe(5);
  });
});
