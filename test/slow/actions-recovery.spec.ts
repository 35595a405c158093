import { LostClaims } from '../../src/platform/work/kind.js';
import { WorkRepository } from '../../src/platform/work/work.repository.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { crashAt, FAILPOINT, revive } from '../support/actions/failpoints.js';
import { ScriptedVendor } from '../support/actions/scripted-vendor.js';
import { eventually } from '../support/jobs/eventually.js';
import { useStarted } from '../support/use-started.js';

describe('the recovery of actions', () => {
  const world = useStarted(() =>
    ActionWorld.start({ ACTION_LEASE_MS: '60000', ACTION_WAIT_MS: '1' }, 2),
  );

  afterEach(async () => {
    await revive(world.app);
    world.vendor.forget();
  });

  const ended = (id: string) =>
    eventually(
      () => world.get(id),
      ({ status }) => ['completed', 'failed', 'rejected'].includes(status!),
    );

  const { claimed, sending, answered, finished } = FAILPOINT;

  it.each([
    ['before anything is sent', claimed, 'block_sender', 'completed', undefined, 1],
    ['before anything is sent', claimed, 'quarantine_email', 'completed', undefined, 1],
    ['when something may have been sent', sending, 'block_sender', 'failed', 'outcome_unknown', 0],
    ['when something may have been sent', sending, 'quarantine_email', 'completed', undefined, 1],
    ['after the vendor answered', answered, 'block_sender', 'failed', 'outcome_unknown', 1],
    // The connector declares this action as idempotent, so it is repeated.
    ['after the vendor answered', answered, 'quarantine_email', 'completed', undefined, 2],
    ['after the outcome was written down', finished, 'block_sender', 'completed', undefined, 1],
  ] as const)(
    'ends an action whose replica dies %s (place %i, %s) as %s %s',
    async (_, point, type, status, code, effects) => {
      const { crashed } = crashAt(world.app, point);
      const { body } = await world.execute(type);
      await crashed;
      await world.expireLeases();
      const { action_id: id } = body.data;
      const action = await ended(id);
      expect(action).toMatchObject({ status, result: { success: status === 'completed' } });
      expect(action.result!.code).toBe(code);
      expect(world.vendor.effectsOf(id)).toBe(effects);
    },
  );
});

describe('the recovery of actions by all replicas', () => {
  const world = useStarted(() =>
    ActionWorld.start({ ACTION_LEASE_MS: '60000', ACTION_WAIT_MS: '1' }, 2),
  );

  it('discards the outcome of an attempt whose lease expired, and keeps the outcome of the next attempt', async () => {
    const vendor = new ScriptedVendor();
    for (const app of world.replicas) vendor.serve(app);
    const [sent, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    vendor.script = (call, gate) =>
      vendor.send(call, gate, {
        after: async () => {
          sent.resolve();
          await answer.promise;
        },
      });
    const { body } = await world.execute('block_sender');
    await sent.promise;
    await world.expireLeases();
    const action = await eventually(
      () => world.get(body.data.action_id),
      ({ status }) => status !== 'pending',
    );
    expect(action.result!.code).toBe('outcome_unknown');
    const end = jest.spyOn(world.app.nest.get(WorkRepository), 'end');
    answer.resolve();
    // Waits, because other work may end meanwhile.
    await eventually(async () => {
      const ends = await Promise.allSettled(end.mock.results.map(({ value }) => value));
      return ends.some((one) => one.status === 'rejected' && one.reason instanceof LostClaims);
    });
    expect(await world.get(body.data.action_id)).toEqual(action);
  });
});
