import { ActionExecutor } from '../../src/actions/execution/action-executor.js';
import { ActionRecovery } from '../../src/actions/execution/action-recovery.js';
import { ConnectorPlaces } from '../../src/actions/execution/action-connectors.js';
import { FAILPOINT } from '../../src/actions/execution/claims.js';
import { rowOf } from '../support/actions/action-table.js';
import { ActionWorld, crashAt, revive } from '../support/actions/action-world.js';
import { eventually } from '../support/jobs/eventually.js';
import { useStarted } from '../support/use-started.js';

const world = useStarted(() => ActionWorld.start({ ACTION_WAIT_MS: '300' }, 2));

beforeAll(async () => {
  // Runs and calls that hang would otherwise hang the end of the suite, too.
  for (const { nest } of world.replicas) {
    nest.get(ActionExecutor).beforeApplicationShutdown = async () => undefined;
  }
  // Where no other connector is enabled, the sandbox serves.
  const actions = { lookup_url: { path: '/lookup_url', body: {} } };
  const body = { name: 'other', type: 'http', config: { base_url: world.vendor.url, actions } };
  await world.clients.admin.post('/api/connectors', body);
});

type Decide = () => Promise<string>;

/** What a person decides on is claimed by the transaction of the decision, as a request is by the one that creates it. */
describe('an action that was decided on', () => {
  let connector: string;

  beforeAll(async () => {
    // The dead look after nobody.
    await world.app.nest.get(ActionRecovery).beforeApplicationShutdown();
    [{ id: connector }] = await world.database.query(
      `select id from connectors where name = 'vendor'`,
    );
  });

  afterEach(() => {
    revive(world.app);
    world.vendor.forget();
  });

  const row = (id: string) => rowOf(world.database, id.replace('act-', ''));
  const ended = (id: string) =>
    eventually(
      () => world.get(id),
      ({ status }) => status === 'completed' || status === 'failed',
    );

  /** The outcome that the other replica gives the action once the lease of the dead one is over. */
  const recovered = async (id: string) => {
    await world.database.query('update actions set lease_until = now() where id = $1', [
      id.replace('act-', ''),
    ]);
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
    ['approved', toApprove],
    ['rolled back', toRollBack],
  ])('and %s', (_, toDecide) => {
    it('is claimed, and its lease runs, before anything of its call begins', async () => {
      const decide = await toDecide();
      const { crashed } = crashAt(world.app, FAILPOINT.claimed);
      const id = await decide();
      await crashed;
      expect(await row(id)).toMatchObject({
        status: 'pending',
        phase: 'claimed',
        fence: 1,
        sent: false,
        connector_id: connector,
      });
      expect(await recovered(id)).toMatchObject({
        result: { success: false, code: 'interrupted' },
      });
      expect(world.vendor.effectsOf(id)).toBe(0);
    });

    it('is not called for twice when its replica dies with the call on its way', async () => {
      const decide = await toDecide();
      const { crashed } = crashAt(world.app, FAILPOINT.answered);
      const id = await decide();
      await crashed;
      expect(await recovered(id)).toMatchObject({ result: { code: 'outcome_unknown' } });
      expect(world.vendor.effectsOf(id)).toBe(1);
    });

    it('is done though recovery has all the places of its connector', async () => {
      const decide = await toDecide();
      const places = world.app.nest.get(ConnectorPlaces);
      const taken: (() => void)[] = [];
      for (let place; (place = places.tryTake(connector));) taken.push(place);
      expect(taken.length).toBeGreaterThan(0);
      try {
        const id = await decide();
        expect(await ended(id)).toMatchObject({ status: 'completed' });
        expect(world.vendor.effectsOf(id)).toBe(1);
      } finally {
        for (const giveBack of taken) giveBack();
      }
    });

    it('fails without a claim when no connector is enabled for it', async () => {
      const decide = await toDecide();
      const enable = (enabled: boolean) =>
        world.clients.admin.put(`/api/connectors/${connector}`, { enabled });
      await enable(false);
      try {
        const id = await decide();
        expect(await ended(id)).toMatchObject({ result: { success: false, code: 'no_connector' } });
        expect(await row(id)).toMatchObject({ fence: 0, connector_id: null });
      } finally {
        await enable(true);
      }
    });
  });
});
