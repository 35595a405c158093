import { foldCounts } from '../../src/platform/counting/counted-list.js';
import { Statements } from '../../src/platform/database/statements.js';
import type { ApiClient } from '../support/api-client.js';
import { as, makeKey } from '../support/principals.js';
import { useReplicas, useStarted } from '../support/use-started.js';

const [app, other] = useReplicas();

interface Item extends Record<string, string> {
  readonly id: string;
}

describe('GET /api/incidents', () => {
  const viewer = useStarted(() => as(app, 'viewer'));
  const analyst = useStarted(() => as(app, 'analyst'));
  /** Created incidents, in the order of creation. */
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
    for (const body of SPECIMENS) {
      const { id } = (await analyst.post('/api/incidents', body)).body.data;
      made.push((await viewer.get(`/api/incidents/${id}`)).body.data);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    const change = (at: number, body: object) =>
      analyst.put(`/api/incidents/${made[at]!.id}`, body);
    await change(4, { status: 'triaged' });
    await change(1, { status: 'resolved' });
    await change(2, { verdict: { classification: 'benign' } });
  });

  const list = async (query: string) => {
    const answer = await viewer.get(`/api/incidents${query}`);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  /** Returns the listed incidents as positions in the order of creation. */
  const places = async (query: string): Promise<number[]> => {
    const { data, meta } = await list(query);
    expect(meta.total).toBe(data.length);
    return data.map(({ id }: Item) => made.findIndex((one) => one.id === id));
  };

  it('shows the fields of a list item, newest first', async () => {
    const { data, meta } = await list('');
    expect(meta).toEqual({ page: 1, per_page: 20, total: 6 });
    expect(data.map(({ id }: Item) => id)).toEqual(made.map(({ id }) => id).reverse());
    const fields =
      'created_at id incident_number incident_type severity source status title updated_at';
    expect(Object.keys(data[0]).sort()).toEqual(fields.split(' '));
  });

  it.each([
    ['?status=open', [5, 3, 0]],
    ['?status=triaged,resolved', [4, 2, 1]],
    ['?severity=critical,low', [5, 4, 1, 0]],
    ['?source=EDR', []],
    ['?source=edr&type=malware&severity=critical,low', [5, 1]],
    ['?created_before=2020-01-01T02:00:00%2B02:00', []],
    ['?sort=-severity', [4, 1, 2, 3, 5, 0]],
    ['?sort=-severity,-updated_at', [1, 4, 2, 3, 5, 0]],
  ])('returns the incidents that match %s, in order', async (query, expected) => {
    expect(await places(query)).toEqual(expected);
  });

  it('accepts lists in the format of axios, such as status[]=open', async () => {
    const [plain, brackets, one] = await Promise.all([
      list('?status=open,triaged&sort=-severity,created_at'),
      list('?status[]=open&status[]=triaged&sort[]=-severity&sort%5B%5D=created_at'),
      list('?status[]=open'),
    ]);
    expect(brackets.data).toEqual(plain.data);
    expect(one.data).toEqual((await list('?status=open')).data);
    const refused = await viewer.get('/api/incidents?page[]=1');
    expect(refused.body.error.details.errors[0].field).toBe('page[]');
  });

  it.each([
    ['page=0', 'page'],
    ['sort=created_at,-created_at', 'sort'],
    ['status=open,', 'status'],
    ['severity=HIGH', 'severity'],
    ['source=%00', 'source'],
    ['colour=red', 'colour'],
    ['number=42', 'number'],
    ['number=INC-2026-%D9%A0%D9%A0%D9%A4%D9%A2', 'number'],
    ['resolved_before=2026-02-30T00:00:00Z', 'resolved_before'],
  ])('refuses the query %s with 422, and names %s', async (query, field) => {
    const answer = await viewer.get(`/api/incidents?${query}`);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    expect(answer.body.error.details.errors[0].field).toBe(field);
  });
});

describe('incidents on several replicas', () => {
  const BODY = { incident_type: 'phishing', source: 'gateway' };
  const TYPES = ['phishing', 'malware', 'bec'];
  let key: string;
  let client: ApiClient;

  beforeAll(async () => {
    ({ key, client } = await makeKey(app, 'admin'));
  });

  const onOther = () => other.client.with({ authorization: `Bearer ${key}` });
  const create = (on: ApiClient, body: object = BODY) => on.post('/api/incidents', body);
  const total = async (query = ''): Promise<number> =>
    (await client.get(`/api/incidents?per_page=1${query}`)).body.meta.total;
  const stored = async (where = 'true'): Promise<number> => {
    const [{ n }] = await app.sql<[{ n: number }]>(
      `select count(*)::int as n from incidents where deleted_at is null and ${where}`,
    );
    return n;
  };

  it('have 200 different numbers after 200 simultaneous creations, and each incident counts once', async () => {
    const before = await total();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        create(index % 2 === 0 ? client : onOther(), { ...BODY, incident_type: TYPES[index % 3] }),
      ),
    );
    expect(answers.every(({ status }) => status === 201)).toBe(true);
    expect(new Set(answers.map(({ body }) => body.data.incident_number)).size).toBe(200);
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(200);
    expect(await total()).toBe(before + 200);
    for (const type of TYPES) {
      expect(await total(`&type=${type}`)).toBe(await stored(`incident_type = '${type}'`));
    }
    await foldCounts(app.nest.get(Statements));
    expect(await total()).toBe(before + 200);
  });
});
