import { ActionCounts } from '../../src/actions/listing/action-counts.js';
import { newId } from '../../src/common/ids.js';
import { ActionWorld } from '../support/actions/action-world.js';

interface Item {
  readonly id: string;
  readonly status: string;
  readonly action_type: string;
  readonly approval_level?: string;
  readonly executed_at?: string;
}

describe('lists of actions', () => {
  let world: ActionWorld;
  let incidentId: string;

  beforeAll(async () => {
    world = await ActionWorld.start();
    incidentId = await world.incident();
    for (let round = 0; round < 3; round += 1) {
      await world.execute('quarantine_email', { incidentId });
      await world.execute('isolate_host', { incidentId });
      await world.execute('block_ip');
      const rejected = (await world.execute('revoke_sessions')).body.data.action_id;
      await world.clients.analyst.request('POST', `/api/actions/${rejected}/reject`, {
        body: { reason: 'no' },
      });
      world.vendor.behave('refuse');
      await world.execute('block_sender');
      world.vendor.behave('apply');
    }
  });
  afterAll(() => world?.close());

  const list = async (query: string) => {
    const answer = await world.clients.viewer.request('GET', `/api/actions?${query}`);
    expect(answer.status).toBe(200);
    return answer.body as { data: Item[]; meta: { total: number } };
  };

  it.each([
    ['', () => true, 15],
    ['status=completed', (one: Item) => one.status === 'completed', 3],
    ['status=rejected', (one: Item) => one.status === 'rejected', 3],
    ['status=completed,failed', (one: Item) => one.status !== 'rejected', 6],
    ['action_type=block_ip,isolate_host', (one: Item) => one.approval_level !== undefined, 6],
    ['approval_level=senior', (one: Item) => one.action_type === 'isolate_host', 3],
    ['status=pending_approval&approval_level=analyst', (one: Item) => one.status !== 'x', 3],
    ['status=pending_approval,pending&action_type=isolate_host', () => true, 3],
  ] as const)('should filter by %s, with an exact total', async (query, fits, total) => {
    for (const folded of [false, true]) {
      if (folded) await world.app.nest.get(ActionCounts).fold();
      const { data, meta } = await list(`${query}&per_page=100`);
      expect([data.length, meta.total]).toEqual([total, total]);
      expect(data.every(fits)).toBe(true);
    }
  });

  it('should filter by the incident', async () => {
    const { data, meta } = await list(`incident_id=${incidentId}&status=pending_approval`);
    expect([data.length, meta.total]).toEqual([3, 3]);
    expect((await list(`incident_id=${newId()}`)).meta.total).toBe(0);
  });

  it.each([
    ['requested_at', 'id'],
    ['created_at', 'id'],
    ['status', 'status'],
    ['action_type', 'action_type'],
    ['executed_at', 'executed_at'],
  ] as const)('should sort by %s both ways, page by page without a gap', async (sort, key) => {
    for (const order of [sort, `-${sort}`]) {
      const whole = (await list(`sort=${order}&per_page=100`)).data;
      const keys = whole.map((one) => one[key]).filter((value) => value !== undefined);
      const sorted = [...keys].sort();
      expect(keys).toEqual(order === sort ? sorted : sorted.reverse());
      // What has no value comes last either way.
      expect(whole.slice(0, keys.length).every((one) => one[key] !== undefined)).toBe(true);
      const pages = [];
      for (let page = 1; page <= 4; page += 1) {
        pages.push(...(await list(`sort=${order}&per_page=4&page=${page}`)).data);
      }
      expect(pages).toEqual(whole);
    }
  });

  it('should answer a page past the end with an empty list and the total', async () => {
    const { data, meta } = await list('page=9');
    expect([data, meta.total]).toEqual([[], 15]);
  });

  it.each([
    'status=done',
    'status=completed,',
    'action_type=x',
    'approval_level=none',
    'incident_id=1',
    'sort=requested_by',
    'per_page=0',
    'per_page=101',
    'page=0',
    'unknown=1',
    'status=completed&status=failed',
  ])('should refuse %s with 422', async (query) => {
    const answer = await world.clients.viewer.request('GET', `/api/actions?${query}`);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
  });

  it('should count what it counts exactly while actions come and go', async () => {
    const counts = world.app.nest.get(ActionCounts);
    await Promise.all([
      ...Array.from({ length: 20 }, () => world.execute('quarantine_email')),
      counts.fold(),
      counts.fold(),
    ]);
    const [row] = await world.database.query<{ n: string }[]>(`select count(*) as n from actions`);
    expect((await list('')).meta.total).toBe(Number(row!.n));
  });
});
