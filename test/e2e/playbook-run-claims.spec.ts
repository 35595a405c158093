import { Transactions } from '../../src/platform/database/transactions.js';
import { PlaybookRunner } from '../../src/playbooks/runs/playbook-runner.js';
import {
  type RunMove,
  RunWritesRepository,
} from '../../src/playbooks/runs/records/run-writes.repository.js';
import { RunQueue } from '../../src/playbooks/runs/run-queue.js';
import { eventually } from '../support/jobs/eventually.js';
import { PlaybookWorld, step } from '../support/playbooks/playbook-world.js';
import { useStarted } from '../support/use-started.js';

const LEASE_MS = 60_000;

describe('the claims of playbook runs', () => {
  const world = useStarted(() => PlaybookWorld.start());
  let playbook: string;

  beforeAll(async () => {
    const { nest } = world.actions.app;
    // Only the test claims.
    await nest.get(RunQueue).beforeApplicationShutdown();
    jest.spyOn(nest.get(PlaybookRunner), 'carryOn').mockResolvedValue();
    playbook = await world.playbook([step('isolate', 'isolate_host')]);
  });
  afterEach(() => world.actions.database.query(`update playbook_runs set due_at = null`));

  const writes = () => world.actions.app.nest.get(RunWritesRepository);
  const inTransaction: Transactions['run'] = (work) =>
    world.actions.app.nest.get(Transactions).run(work);

  /** A run that waits for any replica. */
  async function due(): Promise<string> {
    const { run_id } = await world.ran(playbook);
    const { database } = world.actions;
    await database.query(`update playbook_runs set lease_until = null where id = $1`, [run_id]);
    return run_id;
  }

  async function claimed() {
    await due();
    const [run] = await writes().claimDue(1, LEASE_MS);
    return run!;
  }

  const rest: RunMove = {
    settled: [],
    stepsCompleted: 0,
    stepsFailed: 0,
    at: new Date(),
    then: { kind: 'rest', status: 'running' },
  };

  it('are over with their lease, and what the one before writes changes nothing', async () => {
    const before = await claimed();
    const { database } = world.actions;
    await database.query(
      `update playbook_runs set lease_until = now() - interval '1 s' where id = $1`,
      [before.id],
    );
    const [after] = await writes().claimDue(1, LEASE_MS);
    expect(after).toMatchObject({ id: before.id, fence: before.fence + 1, attempts: 3 });
    const end: RunMove = { ...rest, then: { kind: 'end', status: 'completed' } };
    expect(await inTransaction((tx) => writes().move(tx, before, end))).toBe(false);
    expect((await world.get(playbook, before.id)).status).toBe('running');
    expect(await inTransaction((tx) => writes().move(tx, after!, end))).toBe(true);
    expect(await inTransaction((tx) => writes().move(tx, after!, end))).toBe(false);
  });

  it('lose no reason to wake that comes while a replica works on the run', async () => {
    const run = await claimed();
    const { database } = world.actions;
    const [action] = await database.query<{ id: string }[]>(
      `insert into actions (id, action_type, parameters, status, approval_level, requested_by, requested_at)
       values (gen_random_uuid(), 'isolate_host', '{}', 'pending_approval', 'senior', 'x', now()) returning id`,
    );
    const begun = {
      position: 0,
      name: 'isolate',
      actionId: action!.id,
      status: 'running',
    } as const;
    const hold: RunMove = { ...rest, begun, then: { kind: 'hold', leaseMs: LEASE_MS } };
    await inTransaction((tx) => writes().move(tx, run, hold));
    await inTransaction((tx) => writes().wakeFor(tx, [action!.id]));
    expect(await writes().claimDue(8, LEASE_MS)).toEqual([]);
    await inTransaction((tx) => writes().move(tx, run, rest));
    expect(await writes().claimDue(8, LEASE_MS)).toMatchObject([{ id: run.id }]);
  });

  it('count no attempt that the kill switch stopped', async () => {
    const run = await claimed();
    await writes().release(run);
    const [again] = await writes().claimDue(1, LEASE_MS);
    expect(again).toMatchObject({ id: run.id, attempts: run.attempts });
  });

  const metric = async (name: string): Promise<number | undefined> => {
    const { text } = await world.actions.app.get('/metrics');
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  };

  it('are due in metrics and health until they are made, with the age of the oldest', async () => {
    await claimed();
    const waiting = await due();
    await world.actions.database.query(
      `update playbook_runs set due_at = now() - interval '90 s' where id = $1`,
      [waiting],
    );
    await eventually(async () => (await metric('playbook_runs{status="due"}')) === 1);
    expect(await metric('playbook_runs_oldest_due_seconds')).toBeGreaterThanOrEqual(90);
    const health = await world.clients.admin.get('/health/detailed');
    expect(health.body.components.jobs).toMatchObject({ playbook_runs_due: 1 });
  });
});
