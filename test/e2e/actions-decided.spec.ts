import type { ActionTypeName } from '../../src/action-catalogue/action-types.js';
import { ActionExecutor } from '../../src/actions/execution/action-executor.js';
import { ActionRecovery } from '../../src/actions/execution/action-recovery.js';
import { ConnectorPlaces } from '../../src/actions/execution/connector-places.js';
import { FAILPOINT } from '../../src/actions/execution/failpoints.js';
import { newId } from '../../src/platform/ids.js';
import { rowOf } from '../support/actions/action-table.js';
import { ActionWorld, crashAt, revive } from '../support/actions/action-world.js';
import { eventually } from '../support/jobs/eventually.js';

let world: ActionWorld;

beforeAll(async () => {
  world = await ActionWorld.start({ ACTION_WAIT_MS: '300' }, 2);
  // Runs and calls that hang would otherwise hang the end of the suite, too.
  for (const { nest } of world.replicas) {
    nest.get(ActionExecutor).beforeApplicationShutdown = async () => undefined;
  }
  // Where no other connector is enabled, the sandbox serves.
  const actions = { lookup_url: { path: '/lookup_url', body: {} } };
  const config = { base_url: world.vendor.url, actions };
  const body = { name: 'other', type: 'http', config };
  await world.clients.admin.request('POST', '/api/connectors', { body });
});
afterAll(() => world?.close());

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
      await world.clients.senior.request('POST', `/api/actions/${id}/approve`, { body: {} });
      return id;
    };
  };
  const toRollBack = async (): Promise<Decide> => {
    const { action_id: id } = (await world.execute('block_sender')).body.data;
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    return async () => {
      const body = { reason: 'a false alarm' };
      const path = `/api/actions/${id}/rollback`;
      const answer = await world.clients.analyst.request('POST', path, { body });
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

    it('never is where others could begin it', async () => {
      const decide = await toDecide();
      let others = 0;
      void crashAt(world.app, FAILPOINT.unclaimed).crashed.then(() => (others += 1));
      const id = await decide();
      expect(await ended(id)).toMatchObject({ status: 'completed' });
      expect(others).toBe(0);
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
        world.clients.admin.request('PUT', `/api/connectors/${connector}`, { body: { enabled } });
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

describe('many claims that lapse at once while a vendor hangs', () => {

const REPEATED = 80;
const REPEATED_ELSEWHERE = 20;
const UNKNOWN = 60;
const INTERRUPTED = 60;

interface Counts {
  readonly lapsed: number;
  readonly unknown: number;
  readonly interrupted: number;
  readonly elsewhere: number;
}
  let hanging: string;
  let other: string;

  beforeAll(async () => {
    world.vendor.plan = ({ path }) => ({
      behaviour: path === '/lookup_url' ? 'apply' : 'hang',
      afterMs: 0,
    });
    const lookup_url = { path: '/lookup_url', body: {}, idempotent: true };
    const config = { actions: { lookup_url } };
    const path = '/api/connectors';
    const { body } = await world.clients.admin.request('GET', path);
    const idOf = (connector: string): string =>
      body.data.find(({ name }: { name: string }) => name === connector).id;
    [hanging, other] = [idOf('vendor'), idOf('other')];
    await world.clients.admin.request('PUT', `${path}/${other}`, { body: { config } });
  });

  /** As runs leave them that die: each of them claimed, with a lease that still runs. */
  const leave = async (
    many: number,
    { type, sent, at, seconds }: { type: ActionTypeName; sent: boolean; at: string; seconds: number },
  ): Promise<void> => {
    const ids = Array.from({ length: many }, () => newId());
    await world.database.query(
      `insert into actions (id, action_type, parameters, status, requested_by, requested_at, phase, sent, fence,
                            connector_id, lease_until)
       select id, $2, '{"ip": "203.0.113.9", "url": "https://example.net/"}', 'pending', 'test', now(), 'claimed', $3, 1,
              $4, now() + $5 * interval '1 second'
         from unnest($1::uuid[]) as id`,
      [ids, type, sent, at, seconds],
    );
  };

  const counts = async (): Promise<Counts> => {
    const [row] = await world.database.query(
      `select count(*) filter (where phase is not null and lease_until < now())::integer as lapsed,
              count(*) filter (where result ->> 'code' = 'outcome_unknown')::integer as unknown,
              count(*) filter (where result ->> 'code' = 'interrupted')::integer as interrupted,
              count(*) filter (where status = 'completed' and action_type = 'lookup_url')::integer as elsewhere
         from actions where requested_by = 'test'`,
    );
    return row;
  };

  it('are all settled within one look of recovery, and no other vendor waits for the one that hangs', async () => {
    // The replica that hangs has the leases that end first: more than may be asked of it at a time.
    await leave(REPEATED, { type: 'lookup_ip', sent: true, at: hanging, seconds: 1_000 });
    await leave(UNKNOWN, { type: 'block_sender', sent: true, at: hanging, seconds: 1_001 });
    await leave(INTERRUPTED, { type: 'block_sender', sent: false, at: hanging, seconds: 1_001 });
    await leave(REPEATED_ELSEWHERE, { type: 'lookup_url', sent: true, at: other, seconds: 1_001 });
    await world.database.query(
      `update actions set lease_until = lease_until - interval '1 hour' where requested_by = 'test'`,
    );
    const settled = await eventually(counts, ({ lapsed, unknown, interrupted, elsewhere }) => {
      const gone = unknown === UNKNOWN && interrupted === INTERRUPTED;
      return lapsed === 0 && gone && elsewhere === REPEATED_ELSEWHERE;
    });
    expect(settled).toEqual({
      lapsed: 0,
      unknown: UNKNOWN,
      interrupted: INTERRUPTED,
      elsewhere: REPEATED_ELSEWHERE,
    });
    // The calls that hang have not ended one after the other meanwhile.
    const asked = world.calls.filter(({ path }) => path === '/lookup_ip');
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThan(REPEATED);
  });
});
