import { rowOf } from '../support/actions/action-table.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { crashAt, FAILPOINT, revive } from '../support/actions/failpoints.js';
import { eventually } from '../support/jobs/eventually.js';
import { useStarted } from '../support/use-started.js';

const world = useStarted(() => ActionWorld.start({ ACTION_WAIT_MS: '300' }, 2));

beforeAll(async () => {
  // A second connector, because the sandbox serves if no other connector is enabled.
  const actions = { lookup_url: { path: '/lookup_url', body: {} } };
  const body = { name: 'other', type: 'http', config: { base_url: world.vendor.url, actions } };
  await world.clients.admin.post('/api/connectors', body);
});

type Decide = () => Promise<string>;

/** The transaction of a decision claims the action, as the transaction of a request does. */
describe('an action that a person decided', () => {
  let connector: string;

  beforeAll(async () => {
    [{ id: connector }] = await world.database.query(
      `select id from connectors where name = 'vendor'`,
    );
  });

  afterEach(async () => {
    await revive(world.app);
    world.vendor.forget();
  });

  const row = (id: string) => rowOf(world.database, id.replace('act-', ''));
  const ended = (id: string) =>
    eventually(
      () => world.get(id),
      ({ status }) => status === 'completed' || status === 'failed',
    );

  /** Returns the action that another replica ends after the lease of the dead replica. */
  const recovered = async (id: string) => {
    await world.expireLeases();
    return await ended(id);
  };

  const toApprove = async (): Promise<Decide> => {
    const { action_id: id } = (await world.execute('isolate_host')).body.data;
    return async () => {
      await world.clients.senior.post(`/api/actions/${id}/approve`, {});
      return id;
    };
  };
  const toRollBack = async (): Promise<Decide> => {
    const { action_id: id } = (await world.execute('block_sender')).body.data;
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    return async () => {
      const body = { reason: 'a false alarm' };
      const answer = await world.clients.analyst.post(`/api/actions/${id}/rollback`, body);
      return answer.body.data?.rollback_action_id;
    };
  };

  describe.each([
    ['approval', toApprove],
    ['rollback', toRollBack],
  ])('by %s', (_, toDecide) => {
    it('is claimed before its call begins', async () => {
      const decide = await toDecide();
      const { crashed } = crashAt(world.app, FAILPOINT.claimed);
      const id = await decide();
      await crashed;
      expect(await row(id)).toMatchObject({
        status: 'pending',
        work: {
          lane: `action.${connector}`,
          worker: expect.any(String),
          ready: false,
          state: null,
        },
      });
      expect(await recovered(id)).toMatchObject({ status: 'completed' });
      expect(world.vendor.effectsOf(id)).toBe(1);
    });

    it('is not called twice if its replica dies during the call', async () => {
      const decide = await toDecide();
      const { crashed } = crashAt(world.app, FAILPOINT.answered);
      const id = await decide();
      await crashed;
      expect(await recovered(id)).toMatchObject({ result: { code: 'outcome_unknown' } });
      expect(world.vendor.effectsOf(id)).toBe(1);
    });

    it('starts even if its connector has no free place', async () => {
      const decide = await toDecide();
      const setPlaces = (places: number) =>
        world.database.query(`update work_lanes set places = $1 where kind = 'action'`, [places]);
      await setPlaces(0);
      try {
        const id = await decide();
        expect(await ended(id)).toMatchObject({ status: 'completed' });
        expect(world.vendor.effectsOf(id)).toBe(1);
      } finally {
        await setPlaces(8);
      }
    });

    it('fails, and adds no row to the table work, if no connector is enabled for it', async () => {
      const decide = await toDecide();
      const enable = (enabled: boolean) =>
        world.clients.admin.put(`/api/connectors/${connector}`, { enabled });
      await enable(false);
      try {
        const id = await decide();
        expect(await ended(id)).toMatchObject({ result: { success: false, code: 'no_connector' } });
        expect(await row(id)).toMatchObject({ connector_id: null, work: null });
      } finally {
        await enable(true);
      }
    });
  });
});
