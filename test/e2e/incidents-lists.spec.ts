import { DataSource } from 'typeorm';
import type { ApiClient } from '../support/api-client.js';
import { as } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

interface Item extends Record<string, string> {
  readonly id: string;
}

describe('GET /api/incidents', () => {
  let app: TestApp;
  let viewer: ApiClient;
  let analyst: ApiClient;
  /** In the order of creation. */
  const made: Item[] = [];

  const SPECIMENS = [
    { incident_type: 'phishing', severity: 'low', source: 'gateway' },
    { incident_type: 'malware', severity: 'critical', source: 'edr' },
    { incident_type: 'phishing', severity: 'high', source: 'gateway' },
    { incident_type: 'bec', severity: 'medium', source: 'a,b "c" \\ é' },
    { incident_type: 'phishing', severity: 'critical', source: 'edr' },
    { incident_type: 'malware', severity: 'low', source: 'edr' },
  ];

  beforeAll(async () => {
    app = await startTestApp();
    viewer = await as(app, 'viewer');
    analyst = await as(app, 'analyst');
    for (const body of SPECIMENS) {
      const { id } = (await analyst.request('POST', '/api/incidents', { body })).body.data;
      made.push((await viewer.request('GET', `/api/incidents/${id}`)).body.data);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    const change = (at: number, body: object) =>
      analyst.request('PUT', `/api/incidents/${made[at]!.id}`, { body });
    await change(4, { status: 'triaged' });
    await change(1, { status: 'resolved' });
    await change(2, { verdict: { classification: 'benign' } });
  });
  afterAll(() => app?.close());

  const list = async (query: string) => {
    const answer = await viewer.request('GET', `/api/incidents${query}`);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  /** Which of the specimens the list shows, by their place in the order of creation. */
  const places = async (query: string): Promise<number[]> => {
    const { data, meta } = await list(query);
    expect(meta.total).toBe(data.length);
    return data.map(({ id }: Item) => made.findIndex((one) => one.id === id));
  };

  it('shows the fields of a list item, newest first', async () => {
    const { data, meta } = await list('');
    expect(meta).toEqual({ page: 1, per_page: 20, total: 6 });
    expect(data.map(({ id }: Item) => id)).toEqual(made.map(({ id }) => id).reverse());
    expect(Object.keys(data[0]).sort()).toEqual([
      'created_at',
      'id',
      'incident_number',
      'incident_type',
      'severity',
      'source',
      'status',
      'title',
      'updated_at',
    ]);
  });

  it.each([
    ['?status=open', [5, 3, 0]],
    ['?status=triaged', [4, 2]],
    ['?status=triaged,resolved', [4, 2, 1]],
    ['?status=open,triaged,resolved', [5, 4, 3, 2, 1, 0]],
    ['?status=open,open', [5, 3, 0]],
    ['?severity=critical', [4, 1]],
    ['?severity=critical,low', [5, 4, 1, 0]],
    ['?type=phishing', [4, 2, 0]],
    ['?type=phishing,bec', [4, 3, 2, 0]],
    ['?type=never_seen', []],
    ['?source=edr', [5, 4, 1]],
    [`?source=${encodeURIComponent('a,b "c" \\ é')}`, [3]],
    ['?source=EDR', []],
    ['?source=edr,gateway', [5, 4, 2, 1, 0]],
    ['?source=nothing,%20edr,&status=open', [5]],
    ['?source=edr,gateway&type=phishing&sort=created_at', [0, 2, 4]],
    ['?source=edr&status=open', [5]],
    ['?source=edr&type=malware&severity=critical,low', [5, 1]],
    ['?type=phishing&status=triaged&severity=critical', [4]],
    ['?sort=created_at', [0, 1, 2, 3, 4, 5]],
    ['?sort=incident_number', [0, 1, 2, 3, 4, 5]],
    ['?sort=-incident_number', [5, 4, 3, 2, 1, 0]],
    ['?sort=severity', [0, 5, 3, 2, 1, 4]],
    ['?sort=-severity', [4, 1, 2, 3, 5, 0]],
    ['?sort=status', [0, 3, 5, 1, 2, 4]],
    ['?sort=-incident_type', [4, 2, 0, 5, 1, 3]],
    ['?sort=source', [3, 1, 4, 5, 0, 2]],
    ['?sort=-updated_at', [2, 1, 4, 5, 3, 0]],
    ['?sort=triaged_at', [4, 2, 0, 1, 3, 5]],
    ['?sort=-triaged_at', [2, 4, 5, 3, 1, 0]],
    ['?sort=-severity&type=phishing', [4, 2, 0]],
    ['?sort=-severity,created_at', [1, 4, 2, 3, 0, 5]],
    ['?sort=-severity,-updated_at', [1, 4, 2, 3, 5, 0]],
    ['?sort=status,-severity,source', [3, 5, 0, 1, 4, 2]],
    ['?sort=source&sort=-created_at', [3, 5, 4, 1, 2, 0]],
    ['?sort=-incident_type,severity,created_at', [0, 2, 4, 5, 1, 3]],
  ])('returns the incidents that match %s, in order', async (query, expected) => {
    expect(await places(query)).toEqual(expected);
  });

  it('accepts the time of an incident as an exclusive bound', async () => {
    const third = made[2]!['created_at']!;
    expect(await places(`?created_after=${third}`)).toEqual([5, 4, 3]);
    expect(await places(`?created_before=${third}`)).toEqual([1, 0]);
    const finer = third.replace('Z', '1Z');
    expect(await places(`?created_after=${finer}`)).toEqual([5, 4, 3]);
    expect(await places(`?created_before=${finer}&status=triaged,open`)).toEqual([2, 0]);
    const shifted = new Date(Date.parse(third) + 7_200_000).toISOString().replace('Z', '%2B02:00');
    expect(await places(`?created_before=${shifted}`)).toEqual([1, 0]);
    const [one, five] = [made[1]!['created_at'], made[5]!['created_at']];
    expect(await places(`?created_after=${one}&created_before=${five}`)).toEqual([4, 3, 2]);
    expect(await places(`?created_after=${five}&created_before=${one}`)).toEqual([]);
    expect(await places('?created_after=0001-01-01T00:00:00Z')).toHaveLength(6);
    expect(await places('?created_after=9999-12-31T23:59:59.999Z')).toEqual([]);
  });

  it('pages without gap or overlap, and answers an empty page past the end', async () => {
    for (const sort of [
      '-created_at',
      'severity',
      '-status',
      'source',
      'triaged_at',
      '-severity,created_at',
      'source,-triaged_at',
      '-status,severity,-updated_at',
    ]) {
      const seen: string[] = [];
      for (let page = 1; page <= 3; page += 1) {
        const { data, meta } = await list(`?per_page=2&page=${page}&sort=${sort}`);
        expect(meta).toEqual({ page, per_page: 2, total: 6 });
        seen.push(...data.map(({ id }: Item) => id));
      }
      expect(new Set(seen).size).toBe(6);
      const all = await list(`?sort=${sort}`);
      expect(seen).toEqual(all.data.map(({ id }: Item) => id));
    }
    for (const query of [
      '',
      'status=open&',
      'sort=-severity&',
      'source=edr&',
      'sort=triaged_at&',
    ]) {
      const past = await list(`?${query}page=1000000&per_page=100`);
      expect([past.data, past.meta.total > 0]).toEqual([[], true]);
    }
  });

  it('accepts lists in the format of axios', async () => {
    const [plain, brackets, one] = await Promise.all([
      list('?status=open,triaged&sort=-severity,created_at'),
      list('?status[]=open&status[]=triaged&sort[]=-severity&sort%5B%5D=created_at'),
      list('?status[]=open'),
    ]);
    expect(brackets.data).toEqual(plain.data);
    expect(one.data).toEqual((await list('?status=open')).data);
    const refused = await viewer.request('GET', '/api/incidents?page[]=1');
    expect(refused.body.error.details.errors[0].field).toBe('page[]');
  });

  it.each([
    ['page=0', 'page'],
    ['page=-1', 'page'],
    ['page=1.5', 'page'],
    ['page=1e3', 'page'],
    ['page=', 'page'],
    ['page=99999999999999999999', 'page'],
    ['per_page=0', 'per_page'],
    ['per_page=101', 'per_page'],
    ['sort=colour', 'sort'],
    ['sort=--created_at', 'sort'],
    ['sort=created_at,-created_at', 'sort'],
    ['sort=status,severity,source,created_at', 'sort'],
    ['sort=id;drop%20table%20incidents', 'sort'],
    ['sort=', 'sort'],
    ['status=closed', 'status'],
    ['status=open,closed', 'status'],
    ['status=open,', 'status'],
    ['status=', 'status'],
    ['status=open&status=x', 'status'],
    ['severity=urgent', 'severity'],
    ['severity=HIGH', 'severity'],
    ['type=Not%20A%20Type', 'type'],
    ['type=', 'type'],
    ["type=a'", 'type'],
    ['source=', 'source'],
    ['source=%00', 'source'],
    ['created_after=yesterday', 'created_after'],
    ['created_after=2026-02-30T00:00:00Z', 'created_after'],
    ['created_after=2026-01-01', 'created_after'],
    ['created_before=2026-01-01T00:00:00', 'created_before'],
    ['created_before=1767225600', 'created_before'],
    ['colour=red', 'colour'],
    ['constructor=1', 'constructor'],
  ])('refuses the query %s with 422, and names %s', async (query, field) => {
    const answer = await viewer.request('GET', `/api/incidents?${query}`);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    expect(answer.body.error.details.errors[0].field).toBe(field);
  });

  it('names the limit if there are too many words', async () => {
    const types = Array.from({ length: 21 }, (_, i) => `type_${i}`);
    const answer = await viewer.request('GET', `/api/incidents?type=${types.join(',')}`);
    expect([answer.status, answer.body.error.message]).toEqual([
      422,
      'type must be at most 20 words.',
    ]);
  });

  it('answers the exact total after each creation, with folded and with fresh deltas', async () => {
    const total = async () => (await list('?per_page=1')).meta.total as number;
    const before = await total();
    for (let round = 1; round <= 20; round += 1) {
      await analyst.request('POST', '/api/incidents', { body: SPECIMENS[round % 6] });
      expect(await total()).toBe(before + round);
    }
    const [{ n }] = await app.nest
      .get(DataSource)
      .query<[{ n: number }]>('select count(*)::int as n from incidents');
    expect(await total()).toBe(n);
  });
});
