import { Client } from 'pg';
import { newId } from '../../src/platform/ids.js';
import { eventually } from '../support/jobs/eventually.js';
import { Replica } from '../support/jobs/replica.js';
import { haveEffects, listenOnce, POINTS } from '../support/jobs/replica-app.js';
import { ReplicaProcess } from '../support/jobs/replica-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('work whose process is killed', () => {
  let database: TestDatabase;
  let survivor: Replica;

  beforeEach(async () => {
    database = await createTestDatabase();
    survivor = await Replica.open(database.url);
    await survivor.dataSource.query('create table effects (n integer)');
    await survivor.dataSource.query('create table outcomes (n integer, outcome text)');
  });
  afterEach(async () => {
    await ReplicaProcess.killAll();
    await survivor.stop();
    await database.drop();
  });

  const query = (text: string) => survivor.dataSource.query<object[]>(text);
  const add = (kind: string, ...numbers: number[]) =>
    survivor.transactions.run((tx) =>
      survivor.work.add(tx, { name: kind }, ...numbers.map((n) => ({ ref: newId(), data: { n } }))),
    );
  const killAt = async (point: (typeof POINTS)[number]) => {
    const victim = new ReplicaProcess(database.url, `stop when ${point}`);
    await victim.said(point);
    await victim.kill();
  };
  const takeOver = async (kind: string) => {
    haveEffects(survivor, async () => undefined);
    await survivor.start();
    await eventually(
      async () => (await query(`select from work where kind = '${kind}'`)).length === 0,
    );
  };

  it.each([
    { point: 'claimed', effects: 1, outcome: 'certain' },
    { point: 'noted', effects: 0, outcome: 'unknown' },
    { point: 'done', effects: 1, outcome: 'unknown' },
    { point: 'ended', effects: 1, outcome: 'certain' },
  ] as const)('killed at $point, has at most one effect and ends once', async (expected) => {
    const { point, effects, outcome } = expected;
    await add('effects', 1);
    await killAt(point);
    await takeOver('effects');
    expect(await query('select n from effects')).toHaveLength(effects);
    expect(await query('select n, outcome from outcomes')).toEqual([{ n: 1, outcome }]);
  });

  it('changes the database exactly once if the work runs in a batch', async () => {
    await add('sets', 1, 2, 3);
    await killAt('done');
    await takeOver('sets');
    expect(await query('select n from effects order by n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('continues without a restart after all connections were cut', async () => {
    const done = new Set<number>();
    survivor.work.define<{ n: number }, void>({
      name: 'cut',
      places: 5,
      one: async ({ data }) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        done.add(data.n);
      },
    });
    await survivor.start();
    const admin = new Client(database.url);
    await admin.connect();
    await add('cut', ...Array.from({ length: 100 }, (_, n) => n));
    for (let round = 1; round <= 4; round += 1) {
      await eventually(() => done.size >= 20 * round);
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'incident-triage-service'`,
      );
    }
    await admin.end();
    await eventually(() => done.size === 100);
  });

  it('handles each domain event exactly once', async () => {
    await query('create table heard (id text not null)');
    const recorded: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const victim = new ReplicaProcess(database.url, 'record');
      const said = () => victim.lines.flatMap((line) => /^recorded (.+)\.$/.exec(line)?.[1] ?? []);
      await eventually(() => said().length > 10 + round);
      await victim.kill();
      recorded.push(...said());
    }
    listenOnce(survivor);
    await survivor.start();
    const heard = await eventually(
      () => survivor.dataSource.query<{ id: string }[]>('select id from heard'),
      (rows) => {
        const ids = new Set(rows.map(({ id }) => id));
        return recorded.every((id) => ids.has(id));
      },
    );
    expect(recorded.length).toBeGreaterThan(40);
    expect(new Set(heard.map(({ id }) => id)).size).toBe(heard.length);
  });
});
