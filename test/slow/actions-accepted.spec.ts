import { ActionExecutor } from '../../src/actions/execution/action-executor.js';
import { ActionRecovery } from '../../src/actions/execution/action-recovery.js';
import { FAILPOINT } from '../../src/actions/execution/failpoints.js';
import { ActionWorld, crashAt, revive } from '../support/actions/action-world.js';
import { SlowVendor } from '../support/actions/slow-vendor.js';
import { eventually } from '../support/jobs/eventually.js';

const DEADLINE_MS = 4_000;
const SETTINGS = {
  ACTION_LEASE_MS: '700',
  ACTION_WAIT_MS: '200',
  ACTION_DEADLINE_MS: String(DEADLINE_MS),
};

describe('an action that its vendor accepts and is still doing', () => {
  let world: ActionWorld;
  let vendor: SlowVendor;

  beforeAll(async () => {
    world = await ActionWorld.start(SETTINGS, 2);
    world.app.nest.get(ActionExecutor).beforeApplicationShutdown = async () => undefined;
    await world.app.nest.get(ActionRecovery).beforeApplicationShutdown();
  });
  beforeEach(() => {
    vendor = new SlowVendor();
    for (const app of world.replicas) vendor.serve(app);
  });
  afterEach(() => revive(world.app));
  afterAll(() => world?.close());

  const begin = async (): Promise<string> => {
    const answer = await world.execute('block_sender');
    expect([answer.status, answer.body.data.status]).toEqual([202, 'pending']);
    return answer.body.data.action_id;
  };
  const ended = (id: string) =>
    eventually(
      () => world.get(id),
      ({ status }) => status !== 'pending',
    );
  const polledMore = (times: number) => {
    const enough = vendor.polls + times;
    return eventually(
      () => vendor.polls,
      (polls) => polls >= enough,
    );
  };
  const done = () => (vendor.answer = { kind: 'done', message: 'Done.' });

  it('is polled until it ends, also while the vendor does not answer and the kill switch is on', async () => {
    const id = await begin();
    vendor.answer = 'unreachable';
    await world.turnOn();
    try {
      await polledMore(1);
      expect((await world.get(id)).status).toBe('pending');
      done();
      expect(await ended(id)).toMatchObject({
        status: 'completed',
        result: { success: true, message: 'Done.' },
      });
    } finally {
      await world.turnOff();
    }
    expect(vendor.calls).toHaveLength(1);
  });

  it('fails when the vendor says so in the end', async () => {
    const id = await begin();
    vendor.answer = { kind: 'refused', message: 'The host is offline.' };
    expect(await ended(id)).toMatchObject({ status: 'failed', result: { code: 'refused' } });
  });

  it('is taken over from a replica that dies', async () => {
    const { crashed } = crashAt(world.app, FAILPOINT.vendorAccepted);
    const id = await begin();
    await crashed;
    done();
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect(vendor.calls).toHaveLength(1);
  });

  it.each([
    ['it is done', { kind: 'done', message: 'It is blocked.' } as const, 'completed', undefined],
    ['it does not know', 'unknown' as const, 'failed', 'outcome_unknown'],
  ])(
    'is asked about when the replica that called has died, and the vendor says %s',
    async (_, present, status, code) => {
      vendor.present = present;
      const { crashed } = crashAt(world.app, FAILPOINT.answered);
      const id = await begin();
      await crashed;
      const action = await ended(id);
      expect([action.status, action.result!.code]).toEqual([status, code]);
      expect(vendor.calls).toHaveLength(1);
    },
  );

  it('is called for again when it may be repeated and the vendor cannot tell', async () => {
    vendor.repeatable = true;
    const { crashed } = crashAt(world.app, FAILPOINT.answered);
    const id = await begin();
    await crashed;
    done();
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect(vendor.calls).toHaveLength(2);
  });

  it('is not waited for longer than the deadline', async () => {
    const id = await begin();
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      result: { success: false, code: 'outcome_unknown' },
    });
  });

  it.each([
    ['it is done', { kind: 'done', message: 'It is blocked.' } as const, 'completed'],
    ['it does not know', 'unknown' as const, 'failed'],
  ])(
    'is asked about when the call broke off, and the vendor says %s',
    async (_, present, status) => {
      vendor.breaks = true;
      vendor.present = present;
      const { body } = await world.execute('block_sender');
      expect(body.data.status).toBe(status);
      expect(vendor.calls).toHaveLength(1);
    },
  );

  it('is asked about although its call took all the time that it had', async () => {
    vendor.hangs = true;
    vendor.present = { kind: 'done', message: 'It is blocked.' };
    const id = await begin();
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect(vendor.calls).toHaveLength(1);
  });

  it('is nobody’s while it rests: its row alone makes a replica that is started later go on with it', async () => {
    const recovery = world.replicas[1]!.nest.get(ActionRecovery);
    await recovery.beforeApplicationShutdown();
    const id = await begin();
    done();
    // The replica that called is alive, and it is due long since; but nobody looks at rows.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect([vendor.polls, (await world.get(id)).status]).toEqual([0, 'pending']);
    recovery.onApplicationBootstrap();
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect(vendor.calls).toHaveLength(1);
  });

  it('is asked about by one replica at a time, though both look', async () => {
    world.app.nest.get(ActionRecovery).onApplicationBootstrap();
    try {
      const ids = await Promise.all([begin(), begin(), begin()]);
      await polledMore(6);
      expect(vendor.mostAtOnce).toBe(1);
      done();
      for (const id of ids) expect(await ended(id)).toMatchObject({ status: 'completed' });
      expect(vendor.calls).toHaveLength(3);
    } finally {
      await world.app.nest.get(ActionRecovery).beforeApplicationShutdown();
    }
  });

  describe('and is to be rolled back', () => {
    const rollBack = (id: string) =>
      world.clients.senior.request('POST', `/api/actions/${id}/rollback`, {
        body: { reason: 'A test.' },
      });

    it('is refused that until it has ended, and is then undone in the same way', async () => {
      const id = await begin();
      const early = await rollBack(id);
      expect([early.status, early.body.error.code]).toEqual([409, 'invalid_state']);
      done();
      await ended(id);
      vendor.answer = { kind: 'accepted', message: 'Working on it.', handle: {} };
      const undoing = await rollBack(id);
      expect([undoing.status, undoing.body.data.status]).toEqual([202, 'pending']);
      done();
      expect(await ended(undoing.body.data.rollback_action_id)).toMatchObject({
        status: 'completed',
      });
      expect(vendor.calls.map(({ type }) => type)).toEqual(['block_sender', 'unblock_sender']);
    });

    it('is undone although nobody knows whether it was done in time', async () => {
      const id = await begin();
      expect(await ended(id)).toMatchObject({ result: { code: 'outcome_unknown' } });
      expect((await rollBack(id)).status).toBe(202);
      done();
    });
  });

  it('is handed over when its replica stops in order', async () => {
    const id = await begin();
    const executor = world.app.nest.get(ActionExecutor);
    // Not waited for: the run that died in a test before never ends.
    void ActionExecutor.prototype.beforeApplicationShutdown.call(executor);
    await polledMore(1);
    done();
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect(vendor.calls).toHaveLength(1);
  });
});
