import { DataSource } from 'typeorm';
import { DomainEvents } from '../../src/platform/jobs/events/domain-events.js';
import { KillSwitch } from '../../src/kill-switch/kill-switch.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const REASON = { reason: 'a drill' };

describe('/api/kill-switch', () => {
  let app: TestApp;
  let viewer: ApiClient;
  let analyst: ApiClient;
  let manager: ApiClient;

  const activate = (body: object = REASON, headers = {}) =>
    analyst.request('POST', '/api/kill-switch/activate', { body, headers });
  const deactivate = (body: object = REASON) =>
    manager.request('POST', '/api/kill-switch/deactivate', { body });

  beforeAll(async () => {
    app = await startTestApp();
    [viewer, analyst, manager] = await Promise.all([
      as(app, 'viewer'),
      as(app, 'analyst'),
      as(app, 'manager'),
    ]);
  });

  afterEach(() => deactivate());

  afterAll(() => app.close());

  it('is off at first, and absent is what does not apply', async () => {
    const { body } = await viewer.request('GET', '/api/kill-switch');
    expect(body.data).toEqual({
      active: false,
      held: { actions: 0, triage_runs: 0, playbook_runs: 0 },
    });
  });

  it('is turned on by an analyst and off by a manager', async () => {
    const on = await activate();
    expect(on.status).toBe(200);
    expect(on.body.data).toMatchObject({ active: true, reason: 'a drill', in_flight: 0 });
    expect(on.body.data).not.toHaveProperty('deactivated_at');
    expect((await viewer.request('GET', '/api/kill-switch')).body.data.active).toBe(true);

    const refused = await analyst.request('POST', '/api/kill-switch/deactivate', { body: REASON });
    expect(refused.status).toBe(403);

    const off = await deactivate({ reason: 'over', held: 'discard' });
    expect(off.body.data).toMatchObject({
      active: false,
      reason: 'a drill',
      deactivation_reason: 'over',
      discarded: { actions: 0, triage_runs: 0, playbook_runs: 0 },
    });
  });

  it('is not for viewers to turn', async () => {
    const answer = await viewer.request('POST', '/api/kill-switch/activate', { body: REASON });
    expect(answer.status).toBe(403);
  });

  it('answers as it is when it is turned to where it is', async () => {
    expect((await deactivate()).body.data).toMatchObject({ active: false });
    const first = await activate();
    const second = await activate({ reason: 'another' });
    expect(second.status).toBe(200);
    expect(second.body.data).toEqual(first.body.data);
  });

  it.each([{}, { reason: '' }, { reason: '  ' }, { reason: 1 }, { reason: 'x', why: 'y' }])(
    'refuses %j',
    async (body) => {
      expect((await activate(body)).status).toBe(422);
      expect((await deactivate(body)).status).toBe(422);
    },
  );

  it('answers a repeated request as the first time, to the letter', async () => {
    const headers = { 'idempotency-key': 'stop-once' };
    const first = await activate(REASON, headers);
    await deactivate();
    const again = await activate(REASON, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect((await viewer.request('GET', '/api/kill-switch')).body.data.active).toBe(false);
  });

  it('has activation limited on its own, to 60 per minute', async () => {
    const { headers } = await activate();
    expect(headers['x-ratelimit-limit']).toBe('60');
  });

  it('is recorded once for each turn', async () => {
    const admin = await as(app, 'admin');
    const count = async () =>
      (await admin.request('GET', '/api/audit?action=kill_switch.activated')).body.meta.total;
    const before = await count();
    const told = jest.spyOn(app.nest.get(DomainEvents), 'record');
    await Promise.all([activate(), activate(), activate()]);
    expect(await count()).toBe(before + 1);
    expect(told).toHaveBeenCalledTimes(1);
    expect(told.mock.calls[0]![1]).toMatchObject({ type: 'kill_switch.activated' });
    told.mockRestore();
  });

  it('shows in health and metrics, and degrades without failing readiness', async () => {
    await activate();
    // The look of a moment ago is shared for half a second.
    await new Promise((resolve) => setTimeout(resolve, 600));
    const { body } = await viewer.request('GET', '/health/detailed');
    expect(body.components.kill_switch).toMatchObject({ status: 'degraded', active: true });
    expect((await app.request('GET', '/ready')).status).toBe(200);
    expect((await app.request('GET', '/metrics')).text).toContain('kill_switch_active 1');
    await deactivate();
    // Scrapes within a second share one look.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect((await app.request('GET', '/metrics')).text).toContain('kill_switch_active 0');
  });

  it('refuses permits while it is on, and says why', async () => {
    const killSwitch = app.nest.get(KillSwitch);
    const permit = await killSwitch.renewPermit();
    permit.assertFresh();
    await activate();
    expect(() => permit.assertFresh()).toThrow('lapsed');
    await expect(killSwitch.renewPermit()).rejects.toMatchObject({
      code: 'kill_switch_active',
      extras: { details: { reason: 'a drill' } },
    });
    await expect(killSwitch.assertInactive()).rejects.toMatchObject({ code: 'kill_switch_active' });
  });

  it('counts as active when it cannot be read', async () => {
    const dataSource = app.nest.get(DataSource);
    const killSwitch = app.nest.get(KillSwitch);
    await dataSource.query('alter table kill_switch rename to mislaid');
    try {
      expect(await killSwitch.isActive()).toBe(true);
      await expect(killSwitch.renewPermit()).rejects.toThrow();
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      expect((await app.request('GET', '/metrics')).text).toContain('kill_switch_active 1');
    } finally {
      await dataSource.query('alter table mislaid rename to kill_switch');
    }
  });

  it('is turned on within two seconds while claims hang on to every connection', async () => {
    const transactions = app.nest.get(Transactions);
    const killSwitch = app.nest.get(KillSwitch);
    // The key is known, as that of someone who works with the service all the time.
    await viewer.request('GET', '/api/kill-switch');
    await deactivate();
    await analyst.request('GET', '/api/kill-switch');
    const hanging = Array.from({ length: 12 }, () =>
      transactions
        .run(async (tx) => {
          await killSwitch.claimPermit(tx);
          await tx.query('select pg_sleep(3)');
        })
        .catch(() => undefined),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    const start = performance.now();
    const { status } = await activate();
    expect(status).toBe(200);
    expect(performance.now() - start).toBeLessThan(2_000);
    await Promise.all(hanging);
  });
});
