import { DataSource } from 'typeorm';
import { DomainEvents } from '../../src/platform/work/domain-events.js';
import { KillSwitch } from '../../src/kill-switch/kill-switch.js';
import { Settings } from '../../src/platform/config/settings.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const REASON = { reason: 'a drill' };

describe('/api/kill-switch', () => {
  const log: string[] = [];
  const app = useStarted(() =>
    startTestApp({
      settings: { LOG_LEVEL: 'warn' },
      log: { write: (line) => log.push(line) },
    }),
  );
  const viewer = useStarted(() => as(app, 'viewer'));
  const analyst = useStarted(() => as(app, 'analyst'));
  const manager = useStarted(() => as(app, 'manager'));

  const activate = (body: object = REASON) => analyst.post('/api/kill-switch/activate', body);
  const deactivate = (body: object = REASON) => manager.post('/api/kill-switch/deactivate', body);

  const health = async () =>
    (await viewer.get('/health/detailed')).body.components.kill_switch as {
      active?: boolean;
    };
  const metrics = async () => (await app.get('/metrics')).text;

  afterEach(() => deactivate());

  it('is off at first, and omits fields that do not apply', async () => {
    expect((await viewer.get('/api/kill-switch')).body.data).toEqual({
      active: false,
      held: { actions: 0, triage_runs: 0, playbook_runs: 0 },
    });
  });

  it('is turned on by an analyst and off by a manager', async () => {
    const on = await activate();
    expect(on.status).toBe(200);
    expect(on.body.data).toMatchObject({ active: true, reason: 'a drill', in_flight: 0 });
    expect(on.body.data).not.toHaveProperty('deactivated_at');
    expect((await viewer.get('/api/kill-switch')).body.data.active).toBe(true);

    expect((await analyst.post('/api/kill-switch/deactivate', REASON)).status).toBe(403);

    expect((await deactivate({ reason: 'over', held: 'discard' })).body.data).toMatchObject({
      active: false,
      reason: 'a drill',
      deactivation_reason: 'over',
      discarded: { actions: 0, triage_runs: 0, playbook_runs: 0 },
    });
  });

  it('returns the current state if it is turned on or off again', async () => {
    expect((await deactivate()).body.data).toMatchObject({ active: false });
    const first = await activate();
    const second = await activate({ reason: 'another' });
    expect(second.status).toBe(200);
    expect(second.body.data).toEqual(first.body.data);
  });

  it.each([{}, { reason: '' }, { reason: '  ' }, { reason: 1 }, { reason: 'x', why: 'y' }])(
    'refuses the body %j with 422',
    async (body) => {
      expect((await activate(body)).status).toBe(422);
      expect((await deactivate(body)).status).toBe(422);
    },
  );

  it('has its own limit for activations, 60 per minute', async () => {
    expect((await activate()).headers['x-ratelimit-limit']).toBe('60');
  });

  it('is recorded once for many simultaneous activations', async () => {
    const admin = await as(app, 'admin');
    const count = async () =>
      (await admin.get('/api/audit?action=kill_switch.activated')).body.meta.total;
    const before = await count();
    const told = jest.spyOn(app.nest.get(DomainEvents), 'record');
    await Promise.all([activate(), activate(), activate()]);
    expect(await count()).toBe(before + 1);
    expect(told).toHaveBeenCalledTimes(1);
    expect(told.mock.calls[0]![1]).toMatchObject({ type: 'kill_switch.activated' });
    told.mockRestore();
  });

  it('is shown as degraded in health and metrics, while the service stays ready', async () => {
    await activate();
    // Repeats the request, because health results are cached for a short time.
    await eventually(health, ({ active }) => active === true);
    expect(await health()).toMatchObject({ status: 'degraded', active: true });
    expect((await app.get('/ready')).status).toBe(200);
    await eventually(metrics, (text) => text.includes('kill_switch_active 1'));
    await deactivate();
    await eventually(metrics, (text) => text.includes('kill_switch_active 0'));
  });

  it('counts as active if it cannot be read', async () => {
    const dataSource = app.nest.get(DataSource);
    const killSwitch = app.nest.get(KillSwitch);
    await dataSource.query('alter table kill_switch rename to mislaid');
    try {
      await expect(killSwitch.renewPermit()).rejects.toThrow();
      const shown = await eventually(health, (seen) => !('active' in seen));
      expect(shown).toMatchObject({ status: 'degraded' });
      await eventually(metrics, (text) => !/^kill_switch_active /m.test(text));
    } finally {
      await dataSource.query('alter table mislaid rename to kill_switch');
    }
  });

  it('can be turned on while claims hold every shared connection', async () => {
    const transactions = app.nest.get(Transactions);
    const killSwitch = app.nest.get(KillSwitch);
    // Uses the keys once, because in practice both keys have been used before.
    await deactivate();
    await analyst.get('/api/kill-switch');
    let [holding, isOver] = [0, false];
    const claims = Array.from({ length: app.nest.get(Settings).databasePoolSize }, () =>
      transactions.run(async (tx) => {
        await killSwitch.claimPermit(tx);
        holding += 1;
        // Repeated statements, because PostgreSQL would end an idle transaction.
        while (!isOver) await tx.query('select pg_sleep(0.1)');
        holding -= 1;
      }),
    );
    try {
      await eventually(
        () => holding,
        (claimed) => claimed === claims.length,
      );
      expect((await activate()).status).toBe(200);
      expect(holding).toBe(claims.length);
      expect(log.join()).toContain('A claim still holds the lock of the kill switch.');
    } finally {
      isOver = true;
      await Promise.all(claims);
    }
  });
});
