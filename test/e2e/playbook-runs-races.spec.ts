import { randomUUID } from 'node:crypto';
import { Transactions } from '../../src/platform/database/transactions.js';
import { DomainEvents } from '../../src/platform/jobs/events/domain-events.js';
import {
  PlaybookWorld,
  type ShownRun,
  statuses,
  step,
} from '../support/playbooks/playbook-world.js';
import { eventually } from '../support/jobs/eventually.js';

const ROUNDS = 4;

describe('playbook runs, when several things happen at once', () => {
  let world: PlaybookWorld;

  beforeAll(async () => {
    world = await PlaybookWorld.start({ ACTION_LEASE_MS: '60000' }, 2);
    world.actions.lookOften();
  });
  afterEach(() => world.actions.vendor.forget());
  afterAll(() => world?.close());

  const ran = async (playbook: string, body: object = {}): Promise<ShownRun> =>
    (await world.run(playbook, body)).body.data as ShownRun;
  const calls = (path: string) => world.actions.calls.filter((call) => call.path === path).length;

  it('start once for twins with one Idempotency-Key, and answer all of them alike', async () => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const headers = { 'idempotency-key': randomUUID() };
    const run = (body = {}) => world.run(playbook, body, { headers });
    const twins = await Promise.all(Array.from({ length: 8 }, () => run()));
    const taken = twins.filter(({ status }) => status === 202);
    expect(taken.length).toBeGreaterThan(0);
    expect(twins.filter(({ status }) => status !== 202 && status !== 409)).toEqual([]);
    const late = await run();
    expect(late.headers['idempotency-replayed']).toBe('true');
    expect(late.body).toEqual(taken[0]!.body);
    expect(await world.runsOf(playbook)).toHaveLength(1);
    expect((await run({ dry_run: true })).status).toBe(422);
  });

  it('let either a cancellation or an approval have the waiting action', async () => {
    const playbook = await world.playbook([
      step('isolate', 'isolate_host'),
      step('block', 'block_ip', { on_error: 'continue' }),
    ]);
    let [rejected, approved] = [0, 0];
    for (let round = 0; round < ROUNDS; round += 1) {
      world.actions.vendor.forget();
      const { run_id, steps } = await ran(playbook);
      const id = steps[0]!.action_id!;
      const [cancelled, approval] = await Promise.all([
        world.cancel(playbook, run_id),
        world.approve(id),
      ]);
      const action = await world.actions.get(id);
      const run = await world.get(playbook, run_id);
      if (action.status === 'rejected') {
        rejected += 1;
        expect([cancelled.status, approval.status]).toEqual([200, 409]);
      } else {
        approved += 1;
        expect(approval.status).toBe(200);
      }
      // Whichever was first: the run is over where it was cancelled, and nothing follows.
      if (cancelled.status === 200) {
        expect(run.status).toBe('cancelled');
        expect(statuses(run)).toEqual(['cancelled', 'pending']);
      }
      expect(calls('/isolate_host')).toBe(action.status === 'rejected' ? 0 : 1);
      await world.cancel(playbook, run_id);
    }
    expect(rejected + approved).toBe(ROUNDS);
  });

  it('refuse a second cancellation, and one of a run that has ended', async () => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const { run_id } = await ran(playbook);
    const twins = await Promise.all([1, 2, 3].map(() => world.cancel(playbook, run_id)));
    expect(twins.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(twins.find(({ status }) => status === 409)!.body.error.code).toBe('invalid_state');
  });

  it('take no step of an incident that is deleted, and cancel what is open', async () => {
    const playbook = await world.playbook([
      step('quarantine', 'quarantine_email'),
      step('isolate', 'isolate_host'),
      step('block', 'block_sender'),
    ]);
    for (let round = 0; round < ROUNDS; round += 1) {
      const incident_id = await world.incident();
      const path = `/api/incidents/${incident_id}`;
      const [started, deleted] = await Promise.all([
        world.run(playbook, { incident_id }),
        world.clients.admin.request('DELETE', path),
      ]);
      expect(deleted.status).toBe(200);
      if (started.status === 404) continue;
      const ended = await world.until(
        playbook,
        started.body.data.run_id as string,
        (run) => run.completed_at !== undefined,
      );
      expect(ended).toMatchObject({ status: 'cancelled', error: 'Its incident was deleted.' });
      for (const { action_id } of ended.steps) {
        if (action_id)
          expect((await world.actions.get(action_id)).status).not.toBe('pending_approval');
      }
    }
    expect(calls('/block_sender')).toBe(0);
  });

  it('cancel runs that wait when their incident is deleted', async () => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const incident_id = await world.incident();
    const { run_id, steps } = await ran(playbook, { incident_id });
    await world.clients.admin.request('DELETE', `/api/incidents/${incident_id}`);
    expect(await world.get(playbook, run_id)).toMatchObject({ status: 'cancelled' });
    expect((await world.actions.get(steps[0]!.action_id!)).status).toBe('rejected');
  });

  it('go on once, on whichever replica, however often they are told that an action has ended', async () => {
    const playbook = await world.playbook([
      step('isolate', 'isolate_host'),
      step('block', 'block_sender', { parameters: { sender: 'a@example.net' } }),
    ]);
    const waiting = await Promise.all(Array.from({ length: 6 }, () => ran(playbook)));
    const ids = waiting.map(({ steps }) => steps[0]!.action_id!);
    await Promise.all(ids.map((id) => world.approve(id)));
    const tell = world.actions.replicas.map(({ nest }) => nest.get(DomainEvents));
    const { nest } = world.actions.app;
    await nest.get(Transactions).run(async (tx) => {
      for (const id of ids) {
        const subject = { type: 'action', id };
        const event = { type: 'action.completed', subject, payload: { playbook_run_id: 'x' } };
        await tell[0]!.record(tx, event, event);
      }
    });
    for (const { run_id } of waiting) await world.until(playbook, run_id, 'completed');
    expect(calls('/block_sender')).toBe(6);
  });

  describe('with the kill switch', () => {
    afterEach(async () => {
      await world.actions.turnOff();
    });

    it('start none while it is on, which a dry run does not mind', async () => {
      const playbook = await world.playbook([]);
      await world.actions.turnOn();
      const { status, body } = await world.run(playbook);
      expect([status, body.error.code]).toEqual([409, 'kill_switch_active']);
      expect((await world.run(playbook, { dry_run: true })).status).toBe(200);
    });

    it('take no further step while it is on, are counted as held, and go on after it', async () => {
      const playbook = await world.playbook([
        step('isolate', 'isolate_host'),
        step('block', 'block_sender', {
          parameters: { sender: 'a@example.net' },
          condition: '!steps.isolate.result.success',
        }),
      ]);
      const body = { steps: [step('isolate', 'isolate_host', { on_error: 'continue' })] };
      const lenient = await world.playbook([
        { ...body.steps[0]! },
        step('block', 'block_sender', { parameters: { sender: 'a@example.net' } }),
      ]);
      const one = await ran(playbook);
      const other = await ran(lenient);
      await world.actions.turnOn();
      await world.reject(other.steps[0]!.action_id!);
      const held = await eventually(
        async () => (await world.clients.viewer.request('GET', '/api/kill-switch')).body.data.held,
        ({ playbook_runs }) => playbook_runs === 1,
      );
      expect(held).toMatchObject({ playbook_runs: 1 });
      expect(calls('/block_sender')).toBe(0);
      await world.actions.turnOff();
      await world.until(lenient, other.run_id, 'completed');
      expect(calls('/block_sender')).toBe(1);
      expect((await world.get(playbook, one.run_id)).status).toBe('waiting_approval');
    });

    it('are cancelled where whoever turns it off discards what it held', async () => {
      const playbook = await world.playbook([
        step('isolate', 'isolate_host', { on_error: 'continue' }),
        step('block', 'block_sender', { parameters: { sender: 'a@example.net' } }),
      ]);
      const { run_id, steps } = await ran(playbook);
      await world.actions.turnOn();
      await world.reject(steps[0]!.action_id!);
      await eventually(
        async () => (await world.clients.viewer.request('GET', '/api/kill-switch')).body.data.held,
        ({ playbook_runs }) => playbook_runs === 1,
      );
      await world.actions.turnOff('discard');
      const run = await world.get(playbook, run_id);
      expect(run).toMatchObject({ status: 'cancelled' });
      expect(run.error).toMatch(/^Discarded by key:manager/);
      expect(calls('/block_sender')).toBe(0);
    });
  });
});
