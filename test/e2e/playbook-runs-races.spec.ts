import { Transactions } from '../../src/platform/database/transactions.js';
import { DomainEvents } from '../../src/platform/work/domain-events.js';
import { PlaybookWorld, statuses, step } from '../support/playbooks/playbook-world.js';
import { eventually } from '../support/jobs/eventually.js';
import { useStarted } from '../support/use-started.js';

const ROUNDS = 4;

describe('concurrent changes of a playbook run', () => {
  const world = useStarted(() => PlaybookWorld.start({ ACTION_LEASE_MS: '60000' }, 2));

  afterEach(() => world.actions.vendor.forget());

  const calls = (path: string) => world.actions.calls.filter((call) => call.path === path).length;

  it('let either the cancellation or the approval decide the waiting action', async () => {
    const playbook = await world.playbook([
      step('isolate', 'isolate_host'),
      step('block', 'block_ip', { on_error: 'continue' }),
    ]);
    for (let round = 0; round < ROUNDS; round += 1) {
      world.actions.vendor.forget();
      const { run_id, steps } = await world.ran(playbook);
      const id = steps[0]!.action_id!;
      const [cancelled, approval] = await Promise.all([
        world.cancel(playbook, run_id),
        world.approve(id),
      ]);
      const isRejected = (await world.actions.get(id)).status === 'rejected';
      expect(approval.status).toBe(isRejected ? 409 : 200);
      if (isRejected) expect(cancelled.status).toBe(200);
      // Whichever request came first, a cancelled run executes no further step.
      if (cancelled.status === 200) {
        const run = await world.get(playbook, run_id);
        expect(run.status).toBe('cancelled');
        expect(statuses(run)).toEqual(
          isRejected ? ['cancelled', 'pending'] : expect.not.arrayContaining(['waiting_approval']),
        );
      }
      expect(calls('/isolate_host')).toBe(isRejected ? 0 : 1);
      await world.cancel(playbook, run_id);
    }
  });

  it('cancel even a step that the run reached while the cancellation waited', async () => {
    const playbook = await world.playbook([
      step('isolate', 'isolate_host'),
      step('block', 'block_ip'),
    ]);
    const { run_id, steps } = await world.ran(playbook);
    const { database } = world.actions;
    const worker = database.createQueryRunner();
    await worker.startTransaction();
    await worker.query('select from playbook_runs where id = $1 for update', [run_id]);
    const cancellation = world.cancel(playbook, run_id);
    await eventually(async () => {
      const [waiting] = await database.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return waiting !== undefined;
    });
    await worker.query(
      `update playbook_run_steps set status = 'completed', completed_at = now() where run_id = $1`,
      [run_id],
    );
    await worker.query(
      `insert into playbook_run_steps (run_id, position, name, status, action_id, started_at)
       values ($1, 1, 'block', 'waiting_approval', $2, now())`,
      [run_id, steps[0]!.action_id!.replace('act-', '')],
    );
    await worker.commitTransaction();
    await worker.release();
    expect((await cancellation).status).toBe(200);
    expect(statuses(await world.get(playbook, run_id))).toEqual(['completed', 'cancelled']);
  });

  it('reject a second cancellation with 409', async () => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const { run_id } = await world.ran(playbook);
    const twins = await Promise.all([1, 2, 3].map(() => world.cancel(playbook, run_id)));
    expect(twins.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(twins.find(({ status }) => status === 409)!.body.error.code).toBe('invalid_state');
  });

  it('cancel the run and take no further step if the incident is deleted meanwhile', async () => {
    const playbook = await world.playbook([
      step('quarantine', 'quarantine_email'),
      step('isolate', 'isolate_host'),
      step('block', 'block_sender'),
    ]);
    for (let round = 0; round < ROUNDS; round += 1) {
      const incident_id = await world.incident();
      const [started, deleted] = await Promise.all([
        world.run(playbook, { incident_id }),
        world.clients.admin.delete(`/api/incidents/${incident_id}`),
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

  it('cancel a waiting run when its incident is deleted', async () => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const incident_id = await world.incident();
    const { run_id, steps } = await world.ran(playbook, { incident_id });
    await world.clients.admin.delete(`/api/incidents/${incident_id}`);
    expect(await world.get(playbook, run_id)).toMatchObject({ status: 'cancelled' });
    expect((await world.actions.get(steps[0]!.action_id!)).status).toBe('rejected');
  });

  it('continue the run once for repeated events of the ended action', async () => {
    const playbook = await world.playbook([
      step('isolate', 'isolate_host'),
      step('block', 'block_sender', { parameters: { sender: 'a@example.net' } }),
    ]);
    const waiting = await Promise.all(Array.from({ length: 6 }, () => world.ran(playbook)));
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

  describe('while the kill switch is on', () => {
    afterEach(async () => {
      await world.actions.turnOff();
    });

    it('allow only dry runs to start', async () => {
      const playbook = await world.playbook([]);
      await world.actions.turnOn();
      const { status, body } = await world.run(playbook);
      expect([status, body.error.code]).toEqual([409, 'kill_switch_active']);
      expect((await world.run(playbook, { dry_run: true })).status).toBe(200);
    });

    /** Returns a run whose action is rejected while the kill switch holds its next step. */
    const heldRun = async (): Promise<[string, string]> => {
      const playbook = await world.playbook([
        step('isolate', 'isolate_host', { on_error: 'continue' }),
        step('block', 'block_sender', { parameters: { sender: 'a@example.net' } }),
      ]);
      const { run_id, steps } = await world.ran(playbook);
      await world.actions.turnOn();
      await world.reject(steps[0]!.action_id!);
      await eventually(
        async () => (await world.clients.viewer.get('/api/kill-switch')).body.data.held,
        ({ playbook_runs }) => playbook_runs === 1,
      );
      expect(calls('/block_sender')).toBe(0);
      return [playbook, run_id];
    };

    it('take no further step, count the run as held, and continue it afterwards', async () => {
      const waiting = await world.playbook([step('isolate', 'isolate_host')]);
      const { run_id: other } = await world.ran(waiting);
      const [playbook, run_id] = await heldRun();
      await world.actions.turnOff();
      await world.until(playbook, run_id, 'completed');
      expect(calls('/block_sender')).toBe(1);
      expect((await world.get(waiting, other)).status).toBe('waiting_approval');
    });

    it('cancel a held run if the deactivation discards held work', async () => {
      const [playbook, run_id] = await heldRun();
      await world.actions.turnOff('discard');
      const run = await world.get(playbook, run_id);
      expect(run).toMatchObject({ status: 'cancelled' });
      expect(run.error).toMatch(/^Discarded by key:manager/);
      expect(calls('/block_sender')).toBe(0);
    });
  });
});
