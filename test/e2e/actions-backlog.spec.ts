import { ActionExecutor } from '../../src/actions/execution/action-executor.js';
import type { ActionTypeName } from '../../src/action-catalogue/action-types.js';
import { newId } from '../../src/platform/ids.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { eventually } from '../support/jobs/eventually.js';

const LEASE_MS = 1_000;
const SWEEP_MS = LEASE_MS / 4;
/** What a busy machine adds: still less than the ten seconds that each call takes that hangs. */
const BUSY_MS = 8_000;

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

describe('many claims that lapse at once while a vendor hangs', () => {
  let world: ActionWorld;
  let hanging: string;
  let other: string;

  beforeAll(async () => {
    world = await ActionWorld.start({ ACTION_LEASE_MS: String(LEASE_MS), ACTION_WAIT_MS: '200' });
    // The calls that hang must not hold up the end of the suite.
    world.app.nest.get(ActionExecutor).beforeApplicationShutdown = async () => undefined;
    world.vendor.plan = ({ path }) => ({
      behaviour: path === '/lookup_url' ? 'apply' : 'hang',
      afterMs: 0,
    });
    const path = '/lookup_url';
    const config = {
      base_url: world.vendor.url,
      actions: { lookup_url: { path, body: {}, idempotent: true } },
    };
    const body = { name: 'other', type: 'http', config };
    const answer = await world.clients.admin.request('POST', '/api/connectors', { body });
    other = answer.body.data.id;
    const [row] = await world.database.query(`select id from connectors where name = 'vendor'`);
    hanging = row.id;
  });
  afterAll(() => world?.close());

  /** As runs leave them that die: each of them claimed, with a lease that ends in a moment. */
  const leave = async (
    many: number,
    { type, sent, at, until }: { type: ActionTypeName; sent: boolean; at: string; until: Date },
  ): Promise<void> => {
    const ids = Array.from({ length: many }, () => newId());
    await world.database.query(
      `insert into actions (id, action_type, parameters, status, requested_by, requested_at, phase, sent, fence,
                            connector_id, lease_until)
       select id, $2, '{"ip": "203.0.113.9", "url": "https://example.net/"}', 'pending', 'test', now(), 'claimed', $3, 1,
              $4, $5
         from unnest($1::uuid[]) as id`,
      [ids, type, sent, at, until],
    );
  };

  const counts = async (): Promise<Counts> => {
    const [row] = await world.database.query(
      `select count(*) filter (where phase is not null and lease_until < now())::integer as lapsed,
              count(*) filter (where result ->> 'code' = 'outcome_unknown')::integer as unknown,
              count(*) filter (where result ->> 'code' = 'interrupted')::integer as interrupted,
              count(*) filter (where status = 'completed' and action_type = 'lookup_url')::integer as elsewhere
         from actions`,
    );
    return row;
  };

  it('are all settled within one look of recovery, and no other vendor waits for the one that hangs', async () => {
    const first = new Date(Date.now() + 500);
    const until = new Date(first.getTime() + 1);
    // Whoever lapses first is to be repeated at the vendor that hangs: more than may be asked of it at a time.
    await leave(REPEATED, { type: 'lookup_ip', sent: true, at: hanging, until: first });
    await leave(UNKNOWN, { type: 'block_sender', sent: true, at: hanging, until });
    await leave(INTERRUPTED, { type: 'block_sender', sent: false, at: hanging, until });
    await leave(REPEATED_ELSEWHERE, { type: 'lookup_url', sent: true, at: other, until });
    const settled = await eventually(counts, ({ lapsed, unknown, interrupted, elsewhere }) => {
      const late = Date.now() > until.getTime() + SWEEP_MS + BUSY_MS;
      const gone = unknown === UNKNOWN && interrupted === INTERRUPTED;
      return late || (lapsed === 0 && gone && elsewhere === REPEATED_ELSEWHERE);
    });
    expect(settled).toEqual({
      lapsed: 0,
      unknown: UNKNOWN,
      interrupted: INTERRUPTED,
      elsewhere: REPEATED_ELSEWHERE,
    });
    const asked = world.calls.filter(({ path }) => path === '/lookup_ip');
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThanOrEqual(8);
  });
});
