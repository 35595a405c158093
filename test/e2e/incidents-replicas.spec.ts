import { DataSource } from 'typeorm';
import { IncidentCounts } from '../../src/incidents/counting/incident-counts.js';
import type { ApiClient } from '../support/api-client.js';
import { makeKey } from '../support/principals.js';
import { ServiceProcess } from '../support/service-process.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const BODY = { incident_type: 'phishing', source: 'gateway' };
const TYPES = ['phishing', 'malware', 'bec'];

describe('incidents on several replicas', () => {
  let app: TestApp;
  let other: TestApp;
  let key: string;
  let client: ApiClient;

  beforeAll(async () => {
    app = await startTestApp();
    other = await startTestApp({ database: app.database });
    ({ key, client } = await makeKey(app, 'admin'));
  });
  afterAll(async () => {
    await ServiceProcess.endAll();
    await other?.close();
    await app?.close();
  });

  const onOther = () => other.client.with({ authorization: `Bearer ${key}` });
  const create = (on: ApiClient, body: object = BODY) =>
    on.request('POST', '/api/incidents', { body });
  const total = async (query = ''): Promise<number> =>
    (await client.request('GET', `/api/incidents?per_page=1${query}`)).body.meta.total;
  const stored = async (where = 'true'): Promise<number> => {
    const [{ n }] = await app.nest
      .get(DataSource)
      .query<[{ n: number }]>(
        `select count(*)::int as n from incidents where deleted_at is null and ${where}`,
      );
    return n;
  };
  const differences = () => app.nest.get(IncidentCounts).differences();

  it('gives 200 simultaneous creations 200 numbers, and counts each of them once', async () => {
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
    expect(await differences()).toEqual([]);
  });

  it('refuses only the creations of a revoked key in a shared batch', async () => {
    const doomed = await makeKey(app, 'analyst');
    expect((await create(doomed.client)).status).toBe(201);
    await app.nest
      .get(DataSource)
      .query('update api_keys set revoked_at = now() where id = $1', [doomed.id]);
    const before = await stored();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => create(index % 2 === 0 ? client : doomed.client)),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      answers.map((_, index) => (index % 2 === 0 ? 201 : 401)),
    );
    expect(await stored()).toBe(before + 20);
  });

  it('shows each incident once to a reader of pages while others write', async () => {
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 40 }, () => create(client)));
    }
    const existing = await app.nest
      .get(DataSource)
      .query<{ id: string }[]>('select id from incidents where deleted_at is null');
    let writing = true;
    const writers = [client, onOther()].map(async (on) => {
      while (writing) {
        const { body } = await create(on);
        await on.request('PUT', `/api/incidents/${body.data.id}`, { body: { severity: 'high' } });
      }
    });
    const seen: string[] = [];
    for (let page = 1; ; page += 1) {
      const { body } = await client.request(
        'GET',
        `/api/incidents?sort=created_at&per_page=50&page=${page}`,
      );
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      if (existing.every(({ id }) => seen.includes(id)) || body.data.length < 50) break;
    }
    writing = false;
    await Promise.all(writers);
    const times = new Map<string, number>();
    for (const id of seen) times.set(id, (times.get(id) ?? 0) + 1);
    expect(existing.map(({ id }) => times.get(id))).toEqual(existing.map(() => 1));
  });

  it('counts correctly and loses nothing if a replica is killed', async () => {
    const victim = await ServiceProcess.start({
      settings: { DATABASE_URL: app.database.url, LOG_LEVEL: 'info' },
    });
    const on = victim.client.with({ authorization: `Bearer ${key}` });
    const acknowledged: string[] = [];
    const asked = Array.from({ length: 16 }, async () => {
      for (;;) {
        const answer = await create(on).catch(() => undefined);
        if (answer?.status !== 201) return;
        acknowledged.push(answer.body.data.id);
      }
    });
    while (acknowledged.length < 200) await new Promise((resolve) => setTimeout(resolve, 5));
    await victim.kill();
    await Promise.all(asked);
    const rows = await app.nest
      .get(DataSource)
      .query<unknown[]>('select 1 from incidents where id = any($1::uuid[])', [acknowledged]);
    expect(rows).toHaveLength(acknowledged.length);
    expect(await total()).toBe(await stored());
    expect(await differences()).toEqual([]);
    const [{ n }] = await app.nest.get(DataSource).query<[{ n: number }]>(
      `select count(*)::int as n from incidents i
        where not exists (select from audit_log a where a.subject_id = i.id::text)`,
    );
    expect(n).toBe(0);
  });
});
