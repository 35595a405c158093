import { Gauge, register } from 'prom-client';
import { FlowLag } from '../../src/attention/flow-lag.js';
import { HealthComponents } from '../../src/platform/health-components.js';
import { ScrapedGauges } from '../../src/platform/metrics/scraped-gauges.js';
import { useTestDatabase } from '../support/open-test-database.js';

const MINUTE = 60;

describe('the lag of each processing stage', () => {
  const { query, statements } = useTestDatabase();
  let components: HealthComponents;
  let gauges: ScrapedGauges;
  const name = 'flow_oldest_waiting_seconds';
  const gauge = (register.getSingleMetric(name) ??
    new Gauge({ name, help: 'Of a test.', labelNames: ['stage'] })) as Gauge<'stage'>;

  // A gauge caches its value, so each test has new gauges.
  beforeEach(() => {
    components = new HealthComponents();
    components.register('jobs', async () => ({ status: 'healthy' }));
    gauges = new ScrapedGauges();
    new FlowLag(statements, components, gauges).onModuleInit();
  });

  const lags = async () =>
    Object.fromEntries(
      (await gauge.get()).values.map(({ labels, value }) => [labels.stage, value]),
    );

  it('is 0 for empty queues', async () => {
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

  it('is the waiting time of the first item of each queue', async () => {
    await query(
      `with lane as (insert into work_lanes (lane, types) values ('event.test', '{test}'), ('triage', '{}'))
       insert into work (kind, ref, lane, urgency, ready, due_at)
       select kind, gen_random_uuid(), lane, 2, minutes > 0, now() - minutes * interval '1 minute'
         from (values ('event.test', 'event.test', 2), ('event.test', 'event.test', 1), ('triage', 'triage', 5),
                      ('action', 'action.test', 3), ('action', 'action.test', -1)) as waiting (kind, lane, minutes)`,
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
