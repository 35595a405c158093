import { PlaybookRunner, RUN_FAILPOINT } from '../../src/playbooks/runs/playbook-runner.js';
import { RunQueue } from '../../src/playbooks/runs/run-queue.js';
import { crashAt, revive } from '../support/actions/failpoints.js';
import { eventually } from '../support/jobs/eventually.js';
import {
  PlaybookWorld,
  type ShownRun,
  statuses,
  step,
} from '../support/playbooks/playbook-world.js';
import { useStarted } from '../support/use-started.js';

describe('the recovery of playbook runs', () => {
  const world = useStarted(() =>
    PlaybookWorld.start({ ACTION_LEASE_MS: '60000', ACTION_WAIT_MS: '300' }, 2),
  );

  beforeAll(async () => {
    world.actions.lookOften();
    const { nest } = world.actions.app;
    // A test that hangs a run would otherwise hang the end of the suite, too.
    nest.get(PlaybookRunner).beforeApplicationShutdown = async () => undefined;
    // The dead look after nobody.
    await nest.get(RunQueue).beforeApplicationShutdown();
  });
  afterEach(() => {
    revive(world.actions.app);
    world.actions.vendor.forget();
  });

  const begun = async (playbook: string): Promise<ShownRun> => {
    const [run] = await eventually(
      () => world.runsOf(playbook),
      (runs) => runs.length > 0,
    );
    return run!;
  };

  /** The claims of the dead replica lapse. */
  const expireLeases = async () => {
    await world.actions.expireLeases();
    await world.actions.database.query(
      `update playbook_runs set lease_until = now() - interval '1 ms' where lease_until is not null`,
    );
  };

  it.each(Object.entries(RUN_FAILPOINT))(
    'carries a run to its end when its replica dies at: %s',
    async (_, point) => {
      const playbook = await world.playbook([
        step('quarantine', 'quarantine_email', { parameters: { message_id: '<1@example.net>' } }),
        step('skipped', 'block_ip', { condition: 'false' }),
        step('isolate', 'isolate_host'),
        step('look', 'lookup_ip'),
      ]);
      const { crashed } = crashAt(world.actions.app, point);
      await Promise.all([crashed, world.run(playbook)]);
      await expireLeases();
      const { run_id } = await begun(playbook);
      const waiting = await world.until(playbook, run_id, 'waiting_approval');
      expect(statuses(waiting)).toEqual(['completed', 'skipped', 'waiting_approval', 'pending']);
      revive(world.actions.app);
      await world.approve(waiting.steps[2]!.action_id!);
      const ended = await world.until(playbook, run_id, 'completed');
      expect(ended.steps_completed).toBe(4);
      for (const { action_id } of ended.steps) {
        if (action_id) expect(world.actions.vendor.effectsOf(action_id)).toBeGreaterThan(0);
      }
      const [made] = await world.actions.database.query<{ n: number }[]>(
        `select count(*)::integer as n from actions where playbook_run_id = $1`,
        [run_id],
      );
      expect(made!.n).toBe(3);
      expect(world.actions.calls.filter(({ path }) => path === '/isolate_host')).toHaveLength(1);
    },
  );

  it('finds a run that nobody was told to wake', async () => {
    const playbook = await world.playbook([step('isolate', 'isolate_host')]);
    const { run_id } = await world.ran(playbook);
    const { steps } = await world.until(playbook, run_id, 'waiting_approval');
    const database = world.actions.database;
    const id = steps[0]!.action_id!.replace('act-', '');
    // As a restore leaves it: the action has ended, and no event tells of that.
    await database.query(
      `update actions set status = 'rejected', rejected_by = 'system', rejection_reason = 'x',
              rejected_at = now(), lease_until = null where id = $1`,
      [id],
    );
    await world.actions.replicas[1]!.nest.get(RunQueue).wakeLost();
    const ended = await world.until(playbook, run_id, 'failed');
    expect(ended.steps[0]!.error).toBe('Rejected by system: x');
  });

  it('gives up a run that no attempt has moved', async () => {
    const playbook = await world.playbook([step('look', 'lookup_ip')]);
    const { nest } = world.actions.app;
    const runner = nest.get(PlaybookRunner);
    const carryOn = jest.spyOn(runner, 'carryOn').mockResolvedValue();
    const { run_id } = await world.ran(playbook);
    carryOn.mockRestore();
    const attempts = `update playbook_runs set attempts = 10 where id = $1`;
    await world.actions.database.query(attempts, [run_id]);
    await expireLeases();
    const ended = await world.until(playbook, run_id, 'failed');
    expect(ended.error).toBe('The service could not go on with it; see its log.');
    expect(world.actions.calls).toEqual([]);
  });
});
