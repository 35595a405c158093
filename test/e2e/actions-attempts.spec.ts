import type { Action } from '../../src/actions/action.js';
import { ActionsRepository } from '../../src/actions/actions.repository.js';
import { ActionExecutor } from '../../src/actions/execution/action-executor.js';
import { ActionRecovery } from '../../src/actions/execution/action-recovery.js';
import { UnreachableError } from '../../src/platform/net/net.errors.js';
import { type ActionFields, insertAction, rowOf } from '../support/actions/action-table.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { SCRIPTED, ScriptedVendor } from '../support/actions/scripted-vendor.js';
import { useStarted } from '../support/use-started.js';

const LEASE_MS = 60_000;

describe('an action and what its attempts left behind', () => {
  const world = useStarted(() => ActionWorld.start({ ACTION_LEASE_MS: String(LEASE_MS) }));
  let vendor: ScriptedVendor;

  beforeAll(async () => {
    // Only what a test begins is begun.
    await world.app.nest.get(ActionRecovery).beforeApplicationShutdown();
  });
  beforeEach(() => {
    vendor = new ScriptedVendor();
    vendor.serve(world.app);
  });
  afterEach(() => world.turnOff());

  const nobodys = async (fields: ActionFields = {}): Promise<Action> => {
    const row = { phase: null, fence: 0, connectorId: SCRIPTED, ...fields };
    const id = await insertAction(world.database, row);
    return (await world.app.nest.get(ActionsRepository).findById(id))!;
  };
  const row = ({ id }: Action) => rowOf(world.database, id);
  const run = (action: Action) => world.app.nest.get(ActionExecutor).run(action);
  const takeOver = ({ id }: Action) =>
    world.database.query(
      `update actions set fence = fence + 1, lease_until = now() + interval '1 minute' where id = $1`,
      [id],
    );
  const putBack = ({ id }: Action) =>
    world.database.query('update actions set phase = null where id = $1', [id]);

  describe('which may have been sent before', () => {
    const before = { sent: true, fence: 1 };
    beforeEach(() => (vendor.repeatable = true));

    it('may have happened, and may be asked for again, when the vendor cannot be reached any more', async () => {
      vendor.script = () => Promise.reject(new UnreachableError('No route to host.'));
      const after = await run(await nobodys(before));
      expect([after.status, after.result!.code]).toEqual(['failed', 'timeout']);
      expect(after.result!.message).toContain('may be asked for again');
      const first = await run(await nobodys());
      expect([first.status, first.result!.code]).toEqual(['failed', 'unreachable']);
      // Which of several connectors it was.
      expect(first.result!.message).toBe(`${vendor.identity.name}: No route to host.`);
    });

    it.each([
      ['sent', true],
      ['not sent', false],
    ])('stays %s after an attempt that the kill switch stopped', async (_, sent) => {
      const action = await nobodys({ ...before, sent });
      vendor.script = (call, gate) => vendor.send(call, gate, { before: () => world.turnOn() });
      expect(await run(action)).toMatchObject({ status: 'pending', sent, fence: 2 });
      expect(await row(action)).toMatchObject({ status: 'pending', phase: null, sent });
      expect(vendor.left).toEqual([]);
    });

    it('is recorded in the audit trail and the timeline when it is discarded', async () => {
      const incidentId = await world.incident();
      const action = await nobodys({ ...before, incidentId });
      await world.turnOn();
      expect((await world.turnOff('discard')).body.data.discarded.actions).toBeGreaterThan(0);
      expect(await row(action)).toMatchObject({
        status: 'failed',
        result: { code: 'outcome_unknown' },
      });
      const auditPath = `/api/audit?action=action.failed&subject=act-${action.id}`;
      expect((await world.clients.admin.get(auditPath)).body.data).toMatchObject([
        { actor: 'system', details: { result: { code: 'outcome_unknown' } } },
      ]);
      const timeline = `/api/incidents/${incidentId}/timeline`;
      const { body } = await world.clients.viewer.get(timeline);
      expect(body.data).toContainEqual(expect.objectContaining({ event: 'action_failed' }));
    });
  });

  it.each([
    ['settled at once when it must not be repeated', false, 'failed', 'outcome_unknown'],
    ['put back when it may be repeated', true, 'pending', undefined],
  ] as const)(
    'is %s, once its first request has left and its second one is stopped',
    async (_, repeatable, status, code) => {
      vendor.repeatable = repeatable;
      vendor.script = async (call, gate) => {
        await vendor.send(call, gate);
        await world.turnOn();
        return await vendor.send(call, gate);
      };
      const action = await nobodys();
      const after = await run(action);
      expect([after.status, after.result?.code]).toEqual([status, code]);
      expect(await row(action)).toMatchObject({ status, phase: null, sent: true });
      expect(vendor.left).toHaveLength(1);
    },
  );

  describe('whose incident was deleted while a run had it', () => {
    /** Left by a run that died, after the incident was gone. */
    const orphan = async (sent: boolean) => {
      const incidentId = await world.incident();
      const action = await nobodys({ incidentId, phase: 'claimed', fence: 1, sent });
      const path = `/api/incidents/${incidentId}`;
      expect((await world.clients.admin.delete(path)).status).toBeLessThan(300);
      expect(await row(action)).toMatchObject({ status: 'pending', phase: 'claimed' });
      await putBack(action);
      return (await world.app.nest.get(ActionsRepository).findById(action.id))!;
    };

    it.each([
      ['rejected', 'nothing was sent', false, 'action.rejected'],
      ['failed', 'something may have been sent', true, 'action.failed'],
    ])('is %s instead of begun again when %s', async (status, _, sent, recorded) => {
      vendor.repeatable = true;
      const action = await orphan(sent);
      const after = await run(action);
      expect(after.status).toBe(status);
      expect(after.result?.code).toBe(sent ? 'outcome_unknown' : undefined);
      expect(vendor.left).toEqual([]);
      const { body } = await world.clients.admin.get(`/api/audit?subject=act-${action.id}`);
      expect(body.data).toMatchObject([{ action: recorded, actor: 'system' }]);
    });
  });

  describe('whose run was taken for dead', () => {
    it.each([
      ['taken over', takeOver],
      ['put back', putBack],
    ])('is not sent by the earlier run if it was %s meanwhile', async (_, change) => {
      const action = await nobodys();
      vendor.script = (call, gate) => vendor.send(call, gate, { before: () => change(action) });
      expect(await run(action)).toMatchObject({ id: action.id, status: 'pending', sent: false });
      expect(vendor.left).toEqual([]);
    });
  });
});
