import { UnreachableError } from '../../src/platform/net/net.errors.js';
import { Work } from '../../src/platform/work/work.js';
import {
  type ActionFields,
  type ActionRow,
  insertAction,
  rowOf,
} from '../support/actions/action-table.js';
import { ActionWorld, PARAMETERS, type ShownAction } from '../support/actions/action-world.js';
import { SCRIPTED, ScriptedVendor } from '../support/actions/scripted-vendor.js';
import { eventually } from '../support/jobs/eventually.js';
import { makeKey } from '../support/principals.js';
import { RawConnection } from '../support/raw-http.js';
import { useStarted } from '../support/use-started.js';

const SENT = { sent_to: SCRIPTED };

describe('an action after earlier attempts', () => {
  const world = useStarted(() => ActionWorld.start({ ACTION_LEASE_MS: '60000' }));
  let vendor: ScriptedVendor;

  beforeEach(() => {
    vendor = new ScriptedVendor();
    vendor.serve(world.app);
  });
  afterEach(async () => {
    await world.database.query(`delete from work where kind = 'action'`);
    await world.turnOff();
  });

  const inserted = (fields: ActionFields = {}) =>
    insertAction(world.database, { connectorId: SCRIPTED, ...fields });
  const row = (id: string) => rowOf(world.database, id);
  const begin = async (fields: ActionFields = {}): Promise<string> => {
    const id = await inserted(fields);
    world.app.nest.get(Work).wake();
    return id;
  };
  const ended = (id: string): Promise<ShownAction> =>
    eventually(
      () => world.get(`act-${id}`),
      ({ status }) => status !== 'pending',
    );
  /** Returns the row of an action after an attempt that did not end it. */
  const putBack = (id: string): Promise<ActionRow> =>
    eventually(
      () => row(id),
      ({ work }) => work?.worker === null && work.state !== null,
    );

  describe('whose call may have been sent', () => {
    beforeEach(() => (vendor.repeatable = true));

    it('fails with an unknown outcome, or with the hint that a repetition is safe, if the vendor is unreachable', async () => {
      vendor.script = () => Promise.reject(new UnreachableError('No route to host.'));
      const after = await ended(await begin({ state: SENT }));
      expect([after.status, after.result!.code]).toEqual(['failed', 'timeout']);
      expect(after.result).toMatchObject({
        message: expect.stringContaining('a repetition is safe'),
      });
      const first = await ended(await begin());
      // The message begins with the name of the connector.
      const message = `${vendor.identity.name}: No route to host.`;
      expect(first).toMatchObject({ status: 'failed', result: { code: 'unreachable', message } });
    });

    it.each([
      ['sent', SENT],
      ['not sent', {}],
    ])('remains marked as %s after an attempt that the kill switch stopped', async (_, state) => {
      let isStopped = false;
      vendor.script = (call, gate) =>
        vendor.send(call, gate, {
          before: async () => {
            await world.turnOn();
            isStopped = true;
          },
        });
      const id = await begin({ state });
      await eventually(() => isStopped);
      const { status, work } = await putBack(id);
      expect([status, work!.state]).toEqual(['pending', state]);
      expect(vendor.left).toEqual([]);
    });

    it('is recorded in the audit trail and the timeline when it is discarded', async () => {
      const incidentId = await world.incident();
      await world.turnOn();
      const id = await inserted({ state: SENT, incidentId });
      expect((await world.turnOff('discard')).body.data.discarded.actions).toBeGreaterThan(0);
      expect(await row(id)).toMatchObject({
        status: 'failed',
        result: { code: 'outcome_unknown' },
      });
      const auditPath = `/api/audit?action=action.failed&subject=act-${id}`;
      expect((await world.clients.admin.get(auditPath)).body.data).toMatchObject([
        { actor: 'system', details: { result: { code: 'outcome_unknown' } } },
      ]);
      const timeline = `/api/incidents/${incidentId}/timeline`;
      const { body } = await world.clients.viewer.get(timeline);
      expect(body.data).toContainEqual(expect.objectContaining({ event: 'action_failed' }));
    });
  });

  describe('whose first request was sent and whose second request is stopped', () => {
    beforeEach(() => {
      vendor.script = async (call, gate) => {
        await vendor.send(call, gate);
        await world.turnOn();
        return await vendor.send(call, gate);
      };
    });

    it('ends immediately if a repetition is not safe', async () => {
      const { status, result } = await ended(await begin());
      expect([status, result!.code]).toEqual(['failed', 'outcome_unknown']);
      expect(vendor.left).toHaveLength(1);
    });

    it('waits for the kill switch if a repetition is safe', async () => {
      vendor.repeatable = true;
      const { status, work } = await putBack(await begin());
      expect([status, work!.state]).toEqual(['pending', SENT]);
      expect(vendor.left).toHaveLength(1);
    });
  });

  it.each([
    ['rejected', 'nothing was sent', undefined, 'action.rejected'],
    ['failed', 'a call may have been sent', SENT, 'action.failed'],
  ])(
    'is %s after its incident was deleted during an attempt, if %s',
    async (status, _, state, recorded) => {
      vendor.repeatable = true;
      const incidentId = await world.incident();
      const id = await inserted({ incidentId, work: 'claimed', state });
      const path = `/api/incidents/${incidentId}`;
      expect((await world.clients.admin.delete(path)).status).toBeLessThan(300);
      expect(await row(id)).toMatchObject({ status: 'pending' });
      await world.database.query('update work set worker = null, ready = true where ref = $1', [
        id,
      ]);
      world.app.nest.get(Work).wake();
      const after = await ended(id);
      expect(after.status).toBe(status);
      expect(after.result?.code).toBe(state ? 'outcome_unknown' : undefined);
      expect(vendor.left).toEqual([]);
      const { body } = await world.clients.admin.get(`/api/audit?subject=act-${id}`);
      expect(body.data).toMatchObject([{ action: recorded, actor: 'system' }]);
    },
  );

  it.each([
    ['another worker took it over', `fence = fence + 1, worker = gen_random_uuid()`],
    ['it was put back', `worker = null, due_at = now() + interval '1 hour'`],
  ])('is not sent by a worker that lost its claim: %s', async (_, change) => {
    const isLost = Promise.withResolvers<void>();
    vendor.script = async (call, gate) => {
      try {
        return await vendor.send(call, gate, {
          before: () => world.database.query(`update work set ${change} where kind = 'action'`),
        });
      } finally {
        isLost.resolve();
      }
    };
    const id = await begin();
    await isLost.promise;
    expect(await row(id)).toMatchObject({ status: 'pending', work: { state: null } });
    expect(vendor.left).toEqual([]);
  });
});

describe('a request that waits for an action while the service closes', () => {
  const world = useStarted(() => ActionWorld.start({ ACTION_WAIT_MS: '500' }));

  it('gets a response, and its connection is closed', async () => {
    const isCalled = Promise.withResolvers<void>();
    const vendor = new ScriptedVendor();
    vendor.serve(world.app);
    vendor.script = () => {
      isCalled.resolve();
      return new Promise(() => undefined);
    };
    const { key } = await makeKey(world.app, 'analyst');
    const connection = await RawConnection.open(world.app.port);
    const body = JSON.stringify({ action: 'block_sender', parameters: PARAMETERS.block_sender });
    connection.send(
      `POST /api/actions/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await isCalled.promise;
    const closed = world.app.nest.close();
    expect((await connection.answer()).status).toBe(202);
    await connection.untilClosed();
    await closed;
  });
});
