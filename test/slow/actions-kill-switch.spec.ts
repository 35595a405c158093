import { WorkRepository } from '../../src/platform/work/work.repository.js';
import type { CallState } from '../../src/actions/execution/execution-rules.js';
import { insertAction } from '../support/actions/action-table.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { SCRIPTED, ScriptedVendor } from '../support/actions/scripted-vendor.js';
import { eventually } from '../support/jobs/eventually.js';
import { useStarted } from '../support/use-started.js';

describe('the kill switch for actions', () => {
  const world = useStarted(() =>
    ActionWorld.start({ ACTION_LEASE_MS: '60000', ACTION_WAIT_MS: '1' }, 2),
  );
  let vendor: ScriptedVendor;

  beforeEach(() => {
    vendor = new ScriptedVendor();
    for (const app of world.replicas) vendor.serve(app);
  });
  afterEach(() => world.turnOff());

  const heldAction = (state?: CallState) =>
    insertAction(world.database, { connectorId: SCRIPTED, state });
  const switchState = async () => (await world.clients.viewer.get('/api/kill-switch')).body.data;
  const completed = (id: string) =>
    eventually(
      () => world.get(id),
      ({ status }) => status === 'completed',
    );
  /** Waits until each replica has completed a search for work. */
  const everyReplicaLooked = async () => {
    for (const { nest } of world.replicas) {
      const look = jest.spyOn(nest.get(WorkRepository), 'look');
      await eventually(() => look.mock.calls.length > 2);
      look.mockRestore();
    }
  };

  it.each([
    ['that has not begun', undefined],
    ['that may be repeated', { sent_to: SCRIPTED }],
  ])('holds an action %s, and lets it continue afterwards', async (_, state) => {
    vendor.repeatable = true;
    await world.turnOn();
    const id = `act-${await heldAction(state)}`;
    await everyReplicaLooked();
    expect(vendor.left).toEqual([]);
    expect((await world.get(id)).status).toBe('pending');
    expect((await switchState()).held.actions).toBe(1);
    await world.turnOff();
    await completed(id);
    expect(vendor.left).toHaveLength(1);
    expect((await switchState()).held.actions).toBe(0);
  });

  it('rejects held actions on request, and fails held actions that may have been sent', async () => {
    vendor.repeatable = true;
    await world.turnOn();
    const [id, sent] = [await heldAction(), await heldAction({ sent_to: SCRIPTED })];
    await world.turnOff('discard');
    expect(await world.get(`act-${id}`)).toMatchObject({
      status: 'rejected',
      rejected_by: 'system',
    });
    expect(await world.get(`act-${sent}`)).toMatchObject({
      status: 'failed',
      result: { success: false, code: 'outcome_unknown' },
    });
    await everyReplicaLooked();
    expect(vendor.left).toEqual([]);
  });

  it('reports the calls in progress at an activation, and lets them finish', async () => {
    const [begun, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    vendor.script = (call, gate) =>
      vendor.send(call, gate, {
        after: async () => {
          begun.resolve();
          await answer.promise;
        },
      });
    const { body } = await world.execute('block_sender');
    await begun.promise;
    expect((await world.turnOn()).body.data.in_flight).toBe(1);
    answer.resolve();
    await completed(body.data.action_id);
  });

  it('lets no call leave between the response to an activation and the deactivation', async () => {
    let over = false;
    const executing = Promise.all(
      Array.from({ length: 6 }, async () => {
        while (!over) await world.execute('block_sender');
      }),
    );
    try {
      for (let round = 0; round < 3; round += 1) {
        const before = vendor.left.length;
        await eventually(() => vendor.left.length - before >= 5);
        await world.turnOn();
        const atActivation = vendor.left.length;
        // A request that gets a response now began while the kill switch was on, so it must send nothing.
        for (let n = 0; n < 20; n += 1) await world.execute('block_sender');
        expect(vendor.left).toHaveLength(atActivation);
        await world.turnOff();
      }
    } finally {
      over = true;
      await executing;
    }
  });
});
