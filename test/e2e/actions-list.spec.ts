import { foldCounts } from '../../src/platform/counting/counted-list.js';
import { Statements } from '../../src/platform/database/statements.js';
import { newId } from '../../src/platform/ids.js';
import { ActionWorld } from '../support/actions/action-world.js';
import { useStarted } from '../support/use-started.js';

interface Item {
  readonly id: string;
  readonly status: string;
  readonly action_type: string;
  readonly approval_level?: string;
  readonly executed_at?: string;
  readonly requested_at: string;
}

/** Sorts by these keys; `-` reverses a key. Missing values are last in both directions. */
function inOrder(keys: readonly string[], one: Item, other: Item): number {
  for (const key of keys) {
    const name = key.replace('-', '') as keyof Item;
    const [a, b] = [one[name], other[name]];
    if (a === b) continue;
    if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
    return (a < b ? -1 : 1) * (key.startsWith('-') ? -1 : 1);
  }
  return 0;
}

describe('the list of actions', () => {
  const world = useStarted(() => ActionWorld.start());
  let incidentId: string;

  beforeAll(async () => {
    incidentId = await world.incident();
    for (let round = 0; round < 3; round += 1) {
      await world.execute('quarantine_email', { incidentId });
      await world.execute('isolate_host', { incidentId });
      await world.execute('block_ip');
      const rejected = (await world.execute('revoke_sessions')).body.data.action_id;
      await world.clients.analyst.post(`/api/actions/${rejected}/reject`, { reason: 'no' });
      world.vendor.behave('refuse');
      await world.execute('block_sender');
      world.vendor.behave('apply');
    }
  });

  const list = async (query: string) => {
    const answer = await world.clients.viewer.get(`/api/actions?${query}`);
    expect(answer.status).toBe(200);
    return answer.body as { data: Item[]; meta: { total: number } };
  };

  it.each([
    ['nothing', '', () => true, 15],
    ['two statuses', 'status=completed,failed', (one: Item) => one.status !== 'rejected', 6],
    [
      'lists given twice',
      'status=pending_approval,failed&status=rejected&action_type=block_ip&action_type=isolate_host',
      (one: Item) => one.approval_level !== undefined,
      6,
    ],
    ['the level', 'approval_level=senior', (one: Item) => one.action_type === 'isolate_host', 3],
    [
      'two statuses and a type',
      'status=pending_approval,pending&action_type=isolate_host',
      () => true,
      3,
    ],
  ] as const)('filters by %s (%j), with an exact total', async (_, query, fits, total) => {
    for (const folded of [false, true]) {
      if (folded) await foldCounts(world.app.nest.get(Statements));
      const { data, meta } = await list(`${query}&per_page=100`);
      expect([data.length, meta.total]).toEqual([total, total]);
      expect(data.every(fits)).toBe(true);
    }
  });

  it.each([
    ['-status,requested_at', ['-status', 'id']],
    ['-action_type,status,-created_at', ['-action_type', 'status', '-id']],
    ['status,-created_at&requested_by=:me', ['status', '-id']],
  ] as const)('sorts by %s, page by page without a gap', async (sort, keys) => {
    const query = `sort=${sort.replace(':me', encodeURIComponent(world.names.analyst))}`;
    const whole = (await list(`${query}&per_page=100`)).data;
    expect(whole.length).toBeGreaterThan(5);
    expect(whole).toEqual(whole.toSorted((one, other) => inOrder(keys, one, other)));
    const pages = [];
    for (let page = 1; page <= 4; page += 1) {
      pages.push(...(await list(`${query}&per_page=4&page=${page}`)).data);
    }
    expect(pages).toEqual(whole.slice(0, 16));
  });

  it.each(['status=done', 'approval_level=none', 'sort=status,-status', 'unknown=1'])(
    'refuses the query %s with 422',
    async (query) => {
      const answer = await world.clients.viewer.get(`/api/actions?${query}`);
      expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    },
  );

  it('filters by requester, approver and end time, with an exact total', async () => {
    const { names, clients } = world;
    const ids: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      const { body } = await world.execute('isolate_host', { client: clients.senior });
      ids.push(body.data.action_id);
    }
    for (const [id, client] of [
      [ids[0], clients.manager],
      [ids[1], clients.senior],
    ] as const) {
      const approved = await client.post(`/api/actions/${id}/approve`, {});
      expect(approved.body.data.status).toBe('completed');
    }
    const first = (await clients.viewer.get(`/api/actions/${ids[0]}`)).body.data;
    const mine = `requested_by=${encodeURIComponent(names.senior)}`;
    const queries = [
      [mine, [ids[2], ids[1], ids[0]]],
      [`${mine}&sort=executed_at&action_type=isolate_host`, [ids[0], ids[1], ids[2]]],
      [`approved_by=${encodeURIComponent(names.manager)}`, [ids[0]]],
      [
        `executed_after=${first.executed_at}&approved_by=${encodeURIComponent(names.senior)}`,
        [ids[1]],
      ],
      [`${mine}&created_after=${first.requested_at}&sort=created_at`, [ids[1], ids[2]]],
      [`${mine}&created_before=${first.requested_at}`, []],
      [`${mine}&updated_after=${(first as { updated_at: string }).updated_at}`, [ids[1]]],
      [`${mine}&sort=-updated_at`, [ids[1], ids[0], ids[2]]],
    ] as const;
    expect((await list(`incident_id=${newId()}`)).meta.total).toBe(0);
    for (const [query, expected] of queries) {
      const { data, meta } = await list(query);
      expect([query, data.map(({ id }) => id)]).toEqual([query, expected]);
      expect([query, meta.total]).toEqual([query, expected.length]);
    }
  });

  it('shows the deadline of a waiting action, and its incident', async () => {
    const { data } = await list(`incident_id=${incidentId}&status=pending_approval,completed`);
    const incident = {
      incident_number: expect.stringMatching(/^INC-/),
      incident_type: 'phishing',
      title: 'Phishing from test',
      severity: 'medium',
      status: 'open',
    };
    expect(data).toHaveLength(6);
    for (const item of data as (Item & { requested_at: string; expires_at?: string })[]) {
      expect(item).toMatchObject({ incident });
      const waits = item.status === 'pending_approval';
      const until = new Date(Date.parse(item.requested_at) + 1_440 * 60_000).toISOString();
      expect(item.expires_at).toBe(waits ? until : undefined);
      expect((await world.clients.viewer.get(`/api/actions/${item.id}`)).body.data).toEqual(item);
    }
    expect(await list('page=9')).toMatchObject({ data: [], meta: { total: expect.any(Number) } });
    const direct = await list('action_type=block_ip');
    for (const item of direct.data) expect(item).not.toHaveProperty('incident');
    const waiting = await world.execute('isolate_host');
    const shown = await world.clients.viewer.get(`/api/actions/${waiting.body.data.action_id}`);
    expect(waiting.body.data.expires_at).toBe(shown.body.data.expires_at);
  });
});
