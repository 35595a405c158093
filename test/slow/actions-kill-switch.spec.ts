import { ActionExecutor } from '../../src/actions/execution/action-executor.js';
import { ActionRecovery } from '../../src/actions/execution/action-recovery.js';
import { FAILPOINT } from '../../src/actions/execution/failpoints.js';
import { insertAction } from '../support/actions/action-table.js';
import { ActionWorld, crashAt, revive } from '../support/actions/action-world.js';
import { eventually } from '../support/jobs/eventually.js';

const LEASE_MS = 600;

describe('the kill switch', () => {
  let world: ActionWorld;

  beforeAll(async () => {
    const settings = { ACTION_LEASE_MS: String(LEASE_MS), ACTION_WAIT_MS: '200' };
    world = await ActionWorld.start(settings, 2);
    world.app.nest.get(ActionExecutor).beforeApplicationShutdown = async () => undefined;
    await world.app.nest.get(ActionRecovery).beforeApplicationShutdown();
  });
  afterEach(async () => {
    revive(world.app);
    await world.turnOff();
    world.vendor.forget();
  });
  afterAll(() => world?.close());

  /** As a run leaves one whose call the switch refused. */
  const held = async () => {
    await world.turnOn();
    return `act-${await insertAction(world.database, { phase: null, fence: 1, leaseMs: 0 })}`;
  };
  const switchState = async () =>
    (await world.clients.viewer.request('GET', '/api/kill-switch')).body.data;
  const completed = (id: string) =>
    eventually(
      () => world.get(id),
      ({ status }) => status === 'completed',
    );
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it('holds an action that was to begin, and lets it go on afterwards', async () => {
    const id = await held();
    await pause(LEASE_MS * 2);
    expect((await world.get(id)).status).toBe('pending');
    expect(world.calls).toHaveLength(0);
    expect((await switchState()).held.actions).toBe(1);
    await world.turnOff();
    await completed(id);
    expect(world.vendor.effectsOf(id)).toBe(1);
    expect((await switchState()).held.actions).toBe(0);
  });

  it('discards what is held when that is asked for', async () => {
    const id = await held();
    const waiting = (await world.get(id)).status;
    expect(waiting).toBe('pending');
    await world.turnOff('discard');
    expect(await world.get(id)).toMatchObject({ status: 'rejected', rejected_by: 'system' });
    await pause(LEASE_MS * 2);
    expect(world.calls).toHaveLength(0);
  });

  it('repeats nothing that may be repeated while the switch is on', async () => {
    const { crashed } = crashAt(world.app, FAILPOINT.sending);
    const { body } = await world.execute('quarantine_email');
    await crashed;
    const { action_id: id } = body.data;
    await world.turnOn();
    await pause(LEASE_MS * 2);
    expect(await world.get(id)).toMatchObject({ status: 'pending' });
    expect((await switchState()).held.actions).toBe(1);
    expect(world.calls).toHaveLength(0);
    await world.turnOff('discard');
    expect(await world.get(id)).toMatchObject({
      status: 'failed',
      result: { success: false, code: 'outcome_unknown' },
    });
  });

  it('counts the calls under way when it goes on, and lets them end', async () => {
    world.vendor.answerAfter(2_500);
    const { body } = await world.execute('block_sender');
    const turned = await world.turnOn();
    expect(turned.body.data.in_flight).toBe(1);
    const { action_id: id } = body.data;
    await completed(id);
    expect(world.vendor.effectsOf(id)).toBe(1);
  });

  it('starts nothing between the answer to an activation and the deactivation', async () => {
    let over = false;
    const executing = Promise.all(
      Array.from({ length: 6 }, async () => {
        while (!over) await world.execute('block_sender');
      }),
    );
    const quiet: { from: number; to: number }[] = [];
    try {
      for (let round = 0; round < 3; round += 1) {
        const before = world.calls.length;
        await eventually(
          () => world.calls.length - before,
          (calls) => calls >= 5,
        );
        await world.turnOn();
        const from = performance.now();
        await pause(400);
        quiet.push({ from, to: performance.now() });
        await world.turnOff();
      }
    } finally {
      over = true;
      await executing;
    }
    for (const { from, to } of quiet) {
      const slipped = world.calls.filter(({ at }) => at > from && at < to);
      expect(slipped).toHaveLength(0);
    }
  });
});
