import type { AuditLog } from '../../src/audit/audit-log.js';
import type { Principal } from '../../src/auth/principal.js';
import { DeadJobsService } from '../../src/dead-jobs/dead-jobs.service.js';
import { KillSwitch } from '../../src/kill-switch/kill-switch.js';
import { Statements } from '../../src/platform/database/statements.js';
import type { Tx } from '../../src/platform/database/transactions.js';
import { HealthComponents } from '../../src/platform/health-components.js';
import { newId } from '../../src/platform/ids.js';
import { ScrapedGauges } from '../../src/platform/metrics/scraped-gauges.js';
import {
  AgainOutcome,
  type Claimed,
  DEFAULTS,
  LostClaims,
  type NewWork,
} from '../../src/platform/work/kind.js';
import {
  type ClaimedRow,
  type Ending,
  WorkRepository,
} from '../../src/platform/work/work.repository.js';
import { Lane } from '../../src/platform/work/claim.js';
import type { Work } from '../../src/platform/work/work.js';
import { eventually } from '../support/jobs/eventually.js';
import { Replica } from '../support/jobs/replica.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const KIND = 'test';
const WORKER = newId();
const OTHER = newId();

const deadJobsOf = (replica: Replica) =>
  new DeadJobsService(
    replica.get(Statements),
    replica.work,
    replica.transactions,
    { record: async () => undefined } as unknown as AuditLog,
    replica.get(HealthComponents),
    replica.get(ScrapedGauges),
  );
const caller = { name: 'admin' } as Principal;

describe('rows in the table `work`', () => {
  let database: TestDatabase;
  let replica: Replica;
  let rows: WorkRepository;
  let work: Work;

  beforeAll(async () => {
    database = await createTestDatabase();
    replica = await Replica.open(database.url);
    rows = replica.get(WorkRepository);
    work = replica.work;
  });
  afterAll(async () => {
    await replica.stop();
    await database.drop();
  });
  beforeEach(() => query('truncate work'));

  const query = <Row extends object>(text: string, values?: unknown[]): Promise<Row[]> =>
    replica.dataSource.query<Row[]>(text, values);
  const inTransaction = <T>(work: (tx: Tx) => Promise<T>) => replica.transactions.run(work);
  const add = async (...added: Partial<NewWork>[]): Promise<string[]> => {
    const all = added.map((one) => ({ ref: newId(), ...one }));
    await inTransaction((tx) => work.add(tx, { name: KIND }, ...all));
    return all.map(({ ref }) => ref);
  };
  const request = (change: object = {}) => ({
    ...{
      lane: KIND,
      free: 10,
      places: 10,
      busy: 0,
      leaseMs: 60_000,
      takesLapsed: true,
      since: [],
    },
    ...change,
  });
  const claim = async (worker = WORKER, change: object = {}): Promise<readonly ClaimedRow[]> =>
    (await rows.look(worker, [request(change)])).claimed;
  const readyOf = async (lane: string) =>
    (await rows.look(WORKER, [], { gated: [{ lane, since: [] }] })).ready;
  const refsOf = (claimed: readonly ClaimedRow[]) => claimed.map(({ ref }) => ref);
  const end = (claimed: readonly ClaimedRow[], ending: Omit<Ending, 'row'> = {}, worker = WORKER) =>
    inTransaction((tx) =>
      rows.end(
        tx,
        worker,
        claimed.map((row) => ({ row, ...ending })),
      ),
    );
  const makeDue = () =>
    query(
      `update work set due_at = now() - interval '1 second' where not ready and due_at < 'infinity'`,
    );

  it('are claimed once, in the order in which they were added, up to the free places', async () => {
    const refs = await add({}, {}, {}, {}, {});
    const [one, other] = await Promise.all([claim(WORKER, { free: 2 }), claim(OTHER, { free: 2 })]);
    expect([...refsOf(one), ...refsOf(other)].sort()).toEqual(refs.slice(0, 4).sort());
    expect(refsOf(await claim())).toEqual(refs.slice(4));
  });

  it('are claimed by urgency first', async () => {
    const [low, normal, high] = await add({ urgency: 4 }, {}, { urgency: 0 });
    expect(refsOf(await claim(WORKER, { free: 1 }))).toEqual([high]);
    expect(refsOf(await claim(WORKER, { free: 1 }))).toEqual([normal]);
    expect(refsOf(await claim(WORKER, { free: 1 }))).toEqual([low]);
  });

  it('do not use free places of other lanes', async () => {
    await add({}, {});
    await inTransaction((tx) => work.add(tx, { name: 'full' }, { ref: newId() }));
    const requests = [request({ free: 1 }), request({ lane: 'full', free: 0 })];
    const { claimed } = await rows.look(WORKER, requests);
    expect(claimed.map(({ lane }) => lane)).toEqual([KIND]);
  });

  it('in one line are claimed one after another, even while the first row waits for a retry', async () => {
    const [first, second, other] = await add({ line: 'a' }, { line: 'a' }, { line: 'b' });
    const [third] = await add({ line: 'a' });
    const claimed = await claim();
    expect(refsOf(claimed)).toEqual([first, other]);
    await end(claimed.slice(1));
    await end(claimed.slice(0, 1), { again: { inMs: 3_600_000 } });
    expect(await claim()).toEqual([]);
    await makeDue();
    expect(refsOf(await claim())).toEqual([]);
    const again = await claim();
    expect(refsOf(again)).toEqual([first]);
    await end(again);
    const next = await claim();
    expect(refsOf(next)).toEqual([second]);
    await end(next, { diedOf: 'It cannot be done.' });
    expect(refsOf(await claim())).toEqual([third]);
  });

  it('in one line continue even if one row ends while another row is added', async () => {
    await add({ line: 'a' });
    const claimed = await claim();
    const added = newId();
    let ending: Promise<void> | undefined;
    await inTransaction(async (tx) => {
      await work.add(tx, { name: KIND }, { ref: added, line: 'a' });
      ending = end(claimed);
      await tx.query('select pg_sleep(0.2)');
    });
    await ending;
    expect(refsOf(await claim())).toEqual([added]);
  });

  it('in one line are claimed while a transaction adds another row to the line', async () => {
    const [first] = await add({ line: 'a' });
    const claimed = await inTransaction(async (tx) => {
      await work.add(tx, { name: KIND }, { ref: newId(), line: 'a' });
      return await claim();
    });
    expect(refsOf(claimed)).toEqual([first]);
  });

  it('become ready when they are due', async () => {
    const [later] = await add({ dueAt: new Date(Date.now() + 3_600_000) });
    expect(await claim()).toEqual([]);
    await makeDue();
    expect((await rows.look(WORKER, [request()])).made_ready).toBe(true);
    expect(refsOf(await claim())).toEqual([later]);
  });

  it('of a killed worker are claimed by another worker, and the killed worker can neither end nor renew them', async () => {
    await add({});
    const [lost] = await claim();
    expect(lost).toMatchObject({ attempt: 1, lapsed: false });
    await makeDue();
    await claim(OTHER);
    const [taken] = await claim(OTHER);
    expect(taken).toMatchObject({ id: lost!.id, fence: 2, attempt: 2, lapsed: true });
    await expect(end([lost!])).rejects.toThrow(LostClaims);
    expect(await rows.renew(WORKER, [{ row: lost!, kind: { leaseMs: 1_000 } }])).toEqual(new Set());
    await end([taken!], {}, OTHER);
    expect(await query('select from work')).toEqual([]);
  });

  it('with an expired lease are claimed one at a time, together with other rows', async () => {
    const refs = await add({}, {});
    await claim();
    await makeDue();
    const [other] = await add({});
    expect(refsOf(await claim())).toEqual([other]);
    expect(await claim(WORKER, { takesLapsed: false })).toEqual([]);
    const [first, second] = [await claim(), await claim()];
    expect([first.length, second.length]).toEqual([1, 1]);
    expect(refsOf([...first, ...second]).sort()).toEqual(refs.toSorted());
  });

  it('with a permit check move to the lane of expired claims when their lease has expired', async () => {
    await add({});
    await claim();
    await makeDue();
    const lapsedLanes = { [KIND]: `${KIND}:lapsed` };
    await rows.look(WORKER, [], { lapsedLanes });
    expect(await readyOf(KIND)).toEqual([]);
    expect(refsOf(await claim(WORKER, { lane: `${KIND}:lapsed` }))).toHaveLength(1);
  });

  it('keep the lease while it is renewed', async () => {
    await add({});
    const [row] = await claim(WORKER, { leaseMs: 1 });
    expect(await rows.renew(WORKER, [{ row: row!, kind: { leaseMs: 3_600_000 } }])).toEqual(
      new Set([row!.id]),
    );
    expect((await rows.look(OTHER, [request()])).made_ready).toBe(false);
  });

  it('get the new data if they are added again, and are claimed again if they were claimed', async () => {
    const [ref] = await add({ data: { n: 1 } });
    await add({ ref, data: { n: 2 } });
    const [row] = await claim();
    expect(row!.data).toEqual({ n: 2 });
    await add({ ref, data: { n: 3 } });
    expect(await claim()).toEqual([]);
    await end([row!]);
    expect(await claim()).toMatchObject([{ ref, data: { n: 3 }, attempt: 1, lapsed: false }]);
  });

  it('are claimed again if they are added again during their end', async () => {
    const [ref] = await add({});
    const claimed = await claim();
    let ending: Promise<void> | undefined;
    await inTransaction(async (tx) => {
      await work.add(tx, { name: KIND }, { ref: ref! });
      ending = end(claimed);
      await tx.query('select pg_sleep(0.2)');
    });
    await ending;
    expect(refsOf(await claim())).toEqual([ref]);
  });

  it('are retried immediately if they were added again', async () => {
    const [ref] = await add({});
    const claimed = await claim();
    await inTransaction((tx) => work.add(tx, { name: KIND }, { ref: ref! }));
    await end(claimed, { again: { inMs: 3_600_000, countsAsAttempt: false } });
    const again = await claim();
    expect(again).toMatchObject([{ ref, attempt: 1 }]);
    await inTransaction((tx) => work.add(tx, { name: KIND }, { ref: ref! }));
    await end(again, { again: { inMs: 3_600_000 } });
    expect(await claim()).toEqual([]);
  });

  it('keep the state that a worker noted until they are done', async () => {
    await add({});
    const [row] = await claim();
    const note = { row: row!, kind: { leaseMs: 60_000 }, state: { sent: true } };
    await rows.renew(WORKER, [note]);
    await end([row!], { again: { inMs: 0, countsAsAttempt: false } });
    expect(await claim()).toMatchObject([{ state: { sent: true }, attempt: 1 }]);
  });

  it('can be cancelled, even while they are claimed', async () => {
    const refs = await add({}, { line: 'a' }, { line: 'a' });
    const claimed = await claim();
    const cancel = (which: 'all' | 'waiting', ...some: (string | undefined)[]) =>
      inTransaction((tx) => work.cancel(tx, { name: KIND }, some as string[], which));
    expect(await cancel('waiting', ...refs.slice(0, 2))).toEqual([]);
    expect((await cancel('all', ...refs.slice(0, 2))).toSorted()).toEqual(
      refs.slice(0, 2).toSorted(),
    );
    await expect(end(claimed)).rejects.toThrow(LostClaims);
    expect(refsOf(await claim())).toEqual(refs.slice(2));
    const [waiting] = await add({});
    expect(await cancel('waiting', waiting, refs[2])).toEqual([waiting]);
  });

  it('that end together are all removed or all kept', async () => {
    await add({}, {});
    const claimed = await claim();
    await query('update work set fence = fence + 1 where id = $1', [claimed[0]!.id]);
    await expect(end(claimed)).rejects.toMatchObject({ ids: new Set([claimed[0]!.id]) });
    expect(await query('select from work')).toHaveLength(2);
  });

  it('in one lane are claimed only if the lane is not paused and has free places', async () => {
    await query(`insert into work_lanes (lane, kind, places) values ('own', $1, 3)`, [KIND]);
    await add(...Array.from({ length: 8 }, () => ({ lane: 'own' })));
    const look = (change: object) =>
      rows.look(WORKER, [request({ lane: 'own', free: 10 - 1, busy: 1, ...change })]);
    const change = (work: (tx: Tx) => Promise<void>) => inTransaction(work);
    expect((await rows.look(WORKER, [])).lanes).toEqual([{ lane: 'own', kind: KIND, places: 3 }]);
    expect(await readyOf('own')).toEqual(['own']);
    await change((tx) => work.slowLane(tx, 'own', 60_000, 0, { why: 'a test' }));
    expect(await look({ busy: 0, places: 3 })).toMatchObject({
      claimed: [],
      lanes: [{ lane: 'own' }],
    });
    const behindGate = (busy: number) =>
      inTransaction(
        async (tx) =>
          (await rows.claimIn(tx, WORKER, [request({ lane: 'own', free: 2, busy })])).claimed,
      );
    expect([await behindGate(0), await readyOf('own')]).toEqual([[], []]);
    expect(await query('select reason from work_lanes')).toEqual([{ reason: { why: 'a test' } }]);
    await change((tx) => work.slowLane(tx, 'own', 0, Infinity));
    await query('update work_lanes set paused_until = null');
    expect((await look({})).claimed).toHaveLength(0);
    expect(await behindGate(1)).toEqual([]);
    const one = (await look({ busy: 0 })).claimed;
    expect(one).toHaveLength(1);
    await change((tx) => work.resumeLane(tx, 'own'));
    expect(await query('select reason from work_lanes')).toEqual([{ reason: null }]);
    const { claimed, lanes } = await look({ places: 3 });
    expect([claimed.length, lanes]).toEqual([2, []]);
    await end([...one, ...claimed], { again: { inMs: 3_600_000 } });
    await change((tx) => work.hurryLane(tx, 'own'));
    expect(await query(`select from work where lane = 'own' and ready`)).toHaveLength(8);
    await query('delete from work_lanes');
  });

  it('in a lane without its own places can be paused', async () => {
    await add({});
    await inTransaction((tx) => work.slowLane(tx, KIND, 60_000, 0));
    expect(await rows.look(WORKER, [request()])).toMatchObject({
      claimed: [],
      lanes: [{ lane: KIND, kind: null }],
    });
    await inTransaction((tx) => work.resumeLane(tx, KIND));
    expect(await rows.look(WORKER, [request()])).toMatchObject({
      claimed: [{ attempt: 1 }],
      lanes: [],
    });
    await query('delete from work_lanes');
  });

  /** Returns the plan of a poll, with the number of rows that it read. */
  const explained = async (requests: Parameters<WorkRepository['look']>[1]): Promise<Plan> => {
    const [explained] = await inTransaction(async (tx) => {
      const plans: { 'QUERY PLAN': [{ Plan: Plan }] }[] = [];
      const original = replica.get(WorkRepository)['statements'];
      const spy = jest.spyOn(original, 'rows').mockImplementation(async ({ text }, values) => {
        plans.push(...(await tx.query(`explain (analyze, buffers, format json) ${text}`, values)));
        return [{ id: null }] as never;
      });
      await rows.look(WORKER, requests);
      spy.mockRestore();
      return plans;
    });
    return explained!['QUERY PLAN'][0].Plan;
  };

  it('do not make a claim more expensive if the backlog is large', async () => {
    const backlog = (lane: string, line: string) => `
      insert into work (kind, ref, lane, line, urgency, ready, due_at)
      select $$${lane}$$, gen_random_uuid(), $$${lane}$$, ${line}, 2, ${line} is null or n = 1,
             case when ${line} is null or n = 1 then now() else 'infinity' end
        from generate_series(1, 20000) as n`;
    await query(backlog(KIND, 'null::text'));
    await query(backlog('crowd', `'one line'`));
    await query('analyze work');
    const plan = await explained([request(), request({ lane: 'crowd' })]);
    expect(mostRowsRead(plan)).toBeLessThan(100);
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(2_000);
  });

  it('do not make a claim more expensive while a backup keeps the removed rows', async () => {
    await query(`
      insert into work (kind, ref, lane, urgency, ready, due_at)
      select '${KIND}', gen_random_uuid(), '${KIND}', 2, true, now() + n * interval '1 ms' - interval '1 hour'
        from generate_series(1, 20000) as n`);
    const lane = new Lane(KIND, {
      ...DEFAULTS,
      name: KIND,
      places: 10,
      inSet: async () => undefined,
    });
    const read = async (since: object) => {
      const plan = await explained([request(since)]);
      return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    };
    const backup = replica.dataSource.createQueryRunner();
    await backup.startTransaction('REPEATABLE READ');
    await backup.query('select from work limit 1');
    const { claimed, at } = await rows.look(WORKER, [request({ free: 18_000 })]);
    lane.request();
    lane.endLook(claimed, claimed.length, at);
    await query('delete from work where not ready');
    expect((await read({ since: lane.request().since })) * 3).toBeLessThan(await read({}));
    await backup.rollbackTransaction();
    await backup.release();
  });

  it('are searched for from the last claimed row of each urgency', () => {
    const lane = new Lane(KIND, {
      ...DEFAULTS,
      name: KIND,
      places: 10,
      inSet: async () => undefined,
    });
    const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
    const row = (urgency: number | null, seconds: number) =>
      ({ urgency, ready_at: urgency === null ? null : at(seconds) }) as ClaimedRow;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    expect(lane.request().since).toEqual([]);
    expect(lane.endLook([row(1, 7), row(1, 3), row(2, 5), row(null, 0)], 3, at(50))).toBe(true);
    expect(lane.request().since).toEqual([at(48), at(48), at(3)]);
    expect(lane.endLook([row(2, 8)], 2, at(60))).toBe(false);
    expect(lane.request().since).toEqual(Array.from({ length: 5 }, () => at(58)));
    expect(lane.endLook([row(1, 61), row(1, 62)], 2, at(70))).toBe(true);
    const [first, second, ...others] = lane.request().since;
    expect([first, second, others]).toEqual([at(68), at(60), [at(58), at(58), at(58)]]);

    // A poll without free places does not count.
    clock.mockReturnValue(2_000);
    expect(lane.request().since[0]).toEqual(at(10));
    expect(lane.endLook([], 0, at(75))).toBe(false);
    expect(lane.request().since[0]).toEqual(at(10));
    lane.endLook([], 2, at(80));
    expect(lane.request().since[0]).toEqual(at(78));
    clock.mockReturnValue(30_000);
    expect(lane.request().since).toEqual([]);
    clock.mockRestore();
  });
});

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

/** Returns the largest number of rows that a node of the plan has read. */
function mostRowsRead(plan: Plan): number {
  const own = (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
  return Math.max(own, ...(plan.Plans ?? []).map(mostRowsRead));
}

describe('the worker', () => {
  let database: TestDatabase;
  const replicas: Replica[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
    await database.drop();
  });

  const open = async (environment: NodeJS.ProcessEnv = {}): Promise<Replica> => {
    const replica = await Replica.open(database.url, environment);
    replicas.push(replica);
    return replica;
  };
  const numbers = (count: number, from = 0): NewWork<{ n: number }>[] =>
    Array.from({ length: count }, (_, n) => ({ ref: newId(), data: { n: from + n } }));
  const add = (replica: Replica, ...added: NewWork[]) =>
    replica.transactions.run((tx) => replica.work.add(tx, { name: KIND }, ...added));
  const count = async (replica: Replica, where = 'true'): Promise<number> =>
    (await replica.dataSource.query<object[]>(`select from work where ${where}`)).length;

  it('handles a batch in the transaction that ends its rows, and handles a failed row alone', async () => {
    const replica = await open();
    await replica.dataSource.query('create table done (n integer, size integer)');
    let isBroken = true;
    replica.work.define<{ n: number }, unknown>({
      name: KIND,
      places: 64,
      backoffMs: () => 50,
      inSet: async (tx, rows) => {
        for (const { data } of rows) {
          if (data.n === 7 && isBroken) throw new Error('Not number 7.');
          await tx.query('insert into done values ($1, $2)', [data.n, rows.length]);
        }
      },
    });
    await replica.start();
    await add(replica, ...numbers(20));
    const done = () => replica.dataSource.query<{ n: number }[]>('select n from done order by n');
    await eventually(done, (rows) => rows.length === 19);
    await eventually(() => count(replica, `error = 'Not number 7.'`));
    isBroken = false;
    const all = await eventually(done, (rows) => rows.length === 20);
    expect(all.map(({ n }) => n)).toEqual(numbers(20).map((_, n) => n));
    expect(
      await eventually(
        () => count(replica, `kind = 'test'`),
        (left) => left === 0,
      ),
    ).toBe(0);
  });

  it('repeats only the rows that the handler of a batch returns', async () => {
    const replica = await open();
    const seen: string[] = [];
    replica.work.define<{ n: number }, unknown>({
      name: KIND,
      places: 64,
      inSet: async (_, rows) => {
        seen.push(...rows.map(({ data, attempt }) => `${data.n}/${attempt}`));
        const early = rows.filter(({ data }) => data.n === 1 && seen.length < 4);
        return new Map(early.map((row) => [row, { inMs: 10, countsAsAttempt: false }]));
      },
    });
    await replica.start();
    await add(replica, ...numbers(3));
    await eventually(() => seen.length === 4);
    expect(seen).toEqual(['0/1', '1/1', '2/1', '1/1']);
  });

  it('stores results in the transaction that ends the work', async () => {
    const replica = await open();
    await replica.dataSource.query('create table done (n integer)');
    let failures = 0;
    replica.work.define<{ n: number }, number>({
      name: KIND,
      places: 8,
      backoffMs: () => 10,
      one: async ({ data }) => data.n * 2,
      write: async (tx, ended) => {
        for (const { result } of ended) await tx.query('insert into done values ($1)', [result]);
        if (ended.some(({ result }) => result === 4) && (failures += 1) < 3) throw new Error('No.');
      },
    });
    await replica.start();
    await add(replica, ...numbers(5));
    const done = await eventually(
      () => replica.dataSource.query<{ n: number }[]>('select n from done order by n'),
      (rows) => rows.length === 5,
    );
    expect(done.map(({ n }) => n)).toEqual([0, 2, 4, 6, 8]);
  });

  it('stores the result of an attempt that has to be repeated, unless it lost the claim', async () => {
    const replica = await open();
    await replica.dataSource.query('create table attempts (result text)');
    let takeOver = true;
    replica.work.define<{ n: number }, string>({
      name: KIND,
      places: 8,
      one: async ({ attempt, lapsed }) => {
        if (lapsed) return 'done';
        if (attempt === 1) return new AgainOutcome({ inMs: 10 }, 'failed');
        if (takeOver) {
          takeOver = false;
          await replica.dataSource.query(
            `update work set fence = fence + 1, due_at = now() where kind = 'test'`,
          );
        }
        return new AgainOutcome({ inMs: 10 }, 'lost');
      },
      write: async (tx, ended) => {
        for (const { result } of ended) {
          await tx.query('insert into attempts values ($1)', [result]);
        }
      },
    });
    await replica.start();
    await add(replica, { ref: newId() });
    const results = () => replica.dataSource.query<{ result: string }[]>('table attempts');
    await eventually(results, (all) => all.some(({ result }) => result === 'done'));
    expect((await results()).map(({ result }) => result)).toEqual(['failed', 'done']);
  });

  it('works on lanes that appear, change their places and disappear', async () => {
    const replica = await open();
    let atOnce = 0;
    let most = 0;
    replica.work.define({
      name: KIND,
      places: 8,
      hasLanes: true,
      one: async () => {
        most = Math.max(most, (atOnce += 1));
        await new Promise((resolve) => setTimeout(resolve, 20));
        atOnce -= 1;
      },
    });
    await replica.start();
    const inLane = () => numbers(12).map((one) => ({ ...one, lane: 'own' }));
    const ended = () => eventually(async () => (await count(replica, `kind = 'test'`)) === 0);
    await add(replica, ...inLane());
    await replica.dataSource.query(
      `insert into work_lanes (lane, kind, places) values ('own', 'test', 2)`,
    );
    await ended();
    expect(most).toBe(2);
    await replica.dataSource.query(`update work_lanes set places = 0`);
    await add(replica, ...inLane());
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await count(replica, `kind = 'test'`)).toBe(12);
    await replica.dataSource.query(`update work_lanes set places = 4`);
    await ended();
    expect(most).toBe(4);
  });

  it('claims nothing in a paused lane, and omits kinds with their own gauges from the reported states', async () => {
    const replica = await open();
    const done: string[] = [];
    const gate = async () => ({ passed: true });
    const one = async ({ ref }: Claimed) => void done.push(ref);
    replica.work.define({ name: KIND, places: 1, hasOwnGauges: true, gate, one });
    await replica.start();
    const change = (work: (tx: Tx) => Promise<void>) => replica.transactions.run(work);
    await change((tx) => replica.work.slowLane(tx, KIND, 3_600_000, Infinity));
    const added = numbers(3);
    await add(replica, ...added);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(done).toEqual([]);
    expect(await deadJobsOf(replica).counts()).toEqual({ waiting: 0, active: 0, dead: 0 });
    await change((tx) => replica.work.resumeLane(tx, KIND));
    await eventually(() => done.length === 3);
  });

  it('marks work as dead after its last attempt, in one transaction, and does not requeue it', async () => {
    const replica = await open();
    const attempts: number[] = [];
    const given: string[] = [];
    replica.work.define({
      name: KIND,
      places: 8,
      mostAttempts: 3,
      backoffMs: () => 10,
      one: async ({ attempt }) => {
        attempts.push(attempt);
        // The text has a character that PostgreSQL cannot store.
        throw new Error(`Attempt ${attempt} failed: \0`);
      },
      gaveUp: async (_, __, error) => void given.push(error),
    });
    await replica.start();
    await add(replica, { ref: newId() });
    const jobs = deadJobsOf(replica);
    const dead = () => jobs.list({ queue: KIND, page: 1, per_page: 20, sort: '-created_at' });
    const { items } = await eventually(dead, ({ total }) => total === 1);
    expect(attempts).toEqual([1, 2, 3]);
    expect(given).toEqual(['Attempt 3 failed: \ufffd']);
    expect(items).toMatchObject([{ queue: KIND, attempts: 3, error: 'Attempt 3 failed: \ufffd' }]);
    expect(await jobs.counts()).toEqual({ waiting: 0, active: 0, dead: 1 });
    const requeue = (id: string) => jobs.requeue(caller, id, {});
    await expect(requeue(items[0]!.id)).rejects.toMatchObject({ code: 'invalid_state' });
    await jobs.prune();
    expect(await dead()).toMatchObject({ total: 1 });
    await replica.dataSource.query(`update work set died_at = now() - interval '15 days'`);
    await jobs.prune();
    expect(await dead()).toEqual({ items: [], total: 0 });
  });

  it('marks work as dead after its last attempt, and requeues it once with all attempts', async () => {
    const replica = await open();
    const attempts: number[] = [];
    replica.work.define({
      name: KIND,
      places: 8,
      mostAttempts: 2,
      backoffMs: () => 10,
      one: async ({ attempt }) => {
        attempts.push(attempt);
        if (attempts.length < 3) throw new Error('Late.');
      },
    });
    const ref = newId();
    await add(replica, { ref });
    await replica.start();
    await eventually(() => count(replica, `died_at is not null and attempts = 2`));
    const jobs = deadJobsOf(replica);
    const query = { page: 1, per_page: 1, sort: '-created_at' } as const;
    const [{ id } = { id: '' }] = (await jobs.list(query)).items;
    const requeue = (one: string) => jobs.requeue(caller, one, {});
    await requeue(id);
    for (const one of [id, 'nonsense']) {
      await expect(requeue(one)).rejects.toMatchObject({ code: 'not_found' });
    }
    await eventually(() => attempts.length === 3);
    expect(attempts).toEqual([1, 2, 1]);
  });

  it('aborts work that takes too long, and continues without it', async () => {
    const replica = await open();
    const told: unknown[] = [];
    let hangs = true;
    replica.work.define({
      name: KIND,
      places: 1,
      timeLimitMs: 200,
      backoffMs: () => 10,
      one: async ({ signal }) => {
        signal.addEventListener('abort', () => told.push((signal.reason as Error).message));
        if (hangs) await new Promise(() => undefined);
      },
    });
    await replica.start();
    await add(replica, { ref: newId() });
    await eventually(() => told.length > 0);
    hangs = false;
    await eventually(async () => (await count(replica, `kind = 'test'`)) === 0);
    expect(told[0]).toBe('The work took too long.');
  });

  it('finishes running work at a shutdown, and releases work that exceeds the grace period', async () => {
    const replica = await open({ SHUTDOWN_GRACE_MS: '1000' });
    const begun: number[] = [];
    replica.work.define<{ n: number }, unknown>({
      name: KIND,
      places: 2,
      one: async ({ data, signal }) => {
        begun.push(data.n);
        if (data.n === 0) return;
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
      },
    });
    await replica.start();
    await add(replica, ...numbers(4));
    await eventually(() => begun.length === 3);
    await replica.stop();
    replicas.splice(0);
    const other = await open();
    expect(await count(other, `kind = 'test' and ready and worker is null and attempts = 0`)).toBe(
      3,
    );
  });

  it('shares the work with other replicas, without duplicates', async () => {
    const done: number[] = [];
    const by = new Set<number>();
    const two = [await open(), await open()];
    two.forEach((replica, at) => {
      replica.work.define<{ n: number }, unknown>({
        name: KIND,
        places: 4,
        one: async ({ data }) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          done.push(data.n);
          by.add(at);
        },
      });
    });
    await Promise.all(two.map((replica) => replica.start()));
    await add(two[0]!, ...numbers(1_000));
    two[1]!.work.wake();
    await eventually(async () => (await count(two[0]!, `kind = 'test'`)) === 0);
    expect(done.toSorted((one, other) => one - other)).toEqual(numbers(1_000).map((_, n) => n));
    expect(by.size).toBe(2);
  });

  it('processes work with two database connections', async () => {
    const replica = await open({ DATABASE_POOL_SIZE: '2' });
    const done: number[] = [];
    replica.work.define<{ n: number }, unknown>({
      name: KIND,
      places: 16,
      one: async ({ data }) => void done.push(data.n),
    });
    replica.work.define({ name: 'sets', places: 16, inSet: async () => undefined });
    replica.work.every('often', 1, async () => undefined);
    await replica.start();
    await Promise.all(numbers(200).map((one) => add(replica, one)));
    await eventually(() => done.length === 200);
  });

  it('calls a timer once per period on one replica at a time, even after a failure', async () => {
    const calls: { from: number; to: number }[] = [];
    const two = [await open(), await open()];
    for (const { work } of two) {
      work.every('slow', 1, async () => {
        const from = performance.now();
        await new Promise((resolve) => setTimeout(resolve, 300));
        calls.push({ from, to: performance.now() });
        if (calls.length === 1) throw new Error('Not the first time.');
      });
    }
    await Promise.all(two.map((replica) => replica.start()));
    await eventually(() => calls.length >= 3);
    calls.slice(1).forEach(({ from }, before) => {
      expect(from).toBeGreaterThanOrEqual(calls[before]!.to);
    });
    expect(await count(two[0]!, `kind = 'every.slow'`)).toBe(1);
  });

  it('claims nothing while the permit check refuses, but settles expired claims', async () => {
    const replica = await open();
    let isOpen = false;
    const done: { permit: unknown; lapsed: boolean }[] = [];
    replica.work.define({
      name: KIND,
      places: 8,
      gate: async () => (isOpen ? { passed: true } : undefined),
      one: async ({ permit, lapsed }) => void done.push({ permit, lapsed }),
    });
    await add(replica, { ref: newId() }, { ref: newId() });
    await replica.dataSource.query(
      `update work set ready = false, worker = gen_random_uuid(), fence = 1
        where id = (select min(id) from work)`,
    );
    await replica.start();
    await eventually(() => done.length === 1);
    expect(done).toEqual([{ permit: undefined, lapsed: true }]);
    expect(await count(replica, `kind = 'test' and ready`)).toBe(1);
    isOpen = true;
    await eventually(() => done.length === 2);
    expect(done[1]).toEqual({ permit: { passed: true }, lapsed: false });
  });

  it('moves work with its state between lanes with a permit check and lanes without a permit check', async () => {
    const replica = await open();
    const seen: object[] = [];
    const kind = {
      name: KIND,
      places: 2,
      hasLanes: true,
      one: async ({ lane, lapsed, permit, state, note }: Claimed) => {
        seen.push({ lane, lapsed, state, ...(permit !== undefined && { permit }) });
        if (lapsed) return new AgainOutcome({ inMs: 0, lane: 'gated', state: { lapsed } });
        if (lane !== 'gated') return undefined;
        await replica.transactions.run((tx) => note({ noted: true }, tx));
        return new AgainOutcome({ inMs: 0, lane: 'free' });
      },
    } as const;
    replica.work.define({ ...kind, gate: async () => ({ passed: true }) });
    replica.work.define({ ...kind, name: 'ungated' });
    await replica.dataSource.query(
      `insert into work_lanes (lane, kind, places) values ('gated', 'test', 2), ('free', 'ungated', 2)`,
    );
    await add(replica, { ref: newId(), lane: 'free' });
    await replica.dataSource.query(
      `update work set ready = false, worker = gen_random_uuid(), fence = 1`,
    );
    await replica.start();
    await eventually(async () => (await count(replica, `kind = 'test'`)) === 0);
    expect(seen).toEqual([
      { lane: 'test:lapsed', lapsed: true, state: null },
      { lane: 'gated', lapsed: false, state: { lapsed: true }, permit: { passed: true } },
      { lane: 'free', lapsed: false, state: { noted: true } },
    ]);
  });

  it('renews a lease in time even if the lease is shorter than the usual interval of renewals', async () => {
    const replica = await open();
    const lapsed: boolean[] = [];
    replica.work.define({
      name: KIND,
      places: 1,
      leaseMs: 500,
      one: async (row) => {
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        lapsed.push(row.lapsed);
      },
    });
    await replica.start();
    await add(replica, { ref: newId() });
    await eventually(async () => (await count(replica, `kind = 'test'`)) === 0);
    expect(lapsed).toEqual([false]);
  });

  it('claims nothing after an activation of the kill switch, at any moment', async () => {
    const replica = await open();
    const statements = new Statements(replica.dataSource);
    const killSwitch = Reflect.construct(KillSwitch, [
      replica.transactions,
      statements,
    ]) as KillSwitch;
    let begun = 0;
    let turnedOn = Promise.withResolvers<void>();
    replica.work.define({
      name: KIND,
      places: 4,
      gate: (tx) => killSwitch.permitIfOff(tx),
      one: async () => {
        begun += 1;
        if (begun > 100) await turnedOn.promise;
      },
    });
    await replica.start();
    for (let round = 0; round < 10; round += 1) {
      begun = 0;
      turnedOn = Promise.withResolvers<void>();
      await add(replica, ...numbers(200));
      await new Promise((resolve) => setTimeout(resolve, round));
      await replica.transactions.run(async (tx) => {
        await killSwitch['lock'](tx);
        await tx.query(
          `update kill_switch set active = true, reason = 'test', activated_by = 'test', activated_at = now()`,
        );
      });
      turnedOn.resolve();
      const left = await count(replica, `kind = 'test' and ready`);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await count(replica, `kind = 'test' and ready`)).toBe(left);
      expect(left).toBeGreaterThan(0);
      await replica.dataSource.query('update kill_switch set active = false');
      replica.work.wake();
      await eventually(async () => (await count(replica, `kind = 'test'`)) === 0);
    }
  });

  it('runs work that a transaction adds as claimed after the commit, with its permit and even if the lane is full', async () => {
    const replica = await open();
    await replica.dataSource.query('create table done (n integer)');
    const held = Promise.withResolvers<void>();
    const permits: unknown[] = [];
    replica.work.define<{ n: number }, number>({
      name: KIND,
      places: 1,
      one: async ({ data, permit }) => {
        if (data.n === 0) await held.promise;
        permits.push(permit);
        return data.n;
      },
      write: async (tx, ended) => {
        for (const { result } of ended) await tx.query('insert into done values ($1)', [result]);
      },
    });
    await replica.start();
    await add(replica, ...numbers(1));
    await eventually(() => count(replica, `kind = 'test' and not ready`));

    const added = numbers(2, 1);
    const permit = { passed: true };
    const started = await replica.transactions.run(async (tx) => {
      const all = await replica.work.addClaimed(tx, { name: KIND }, added, permit);
      expect(permits).toEqual([]);
      return all;
    });
    await Promise.all(added.map(async ({ ref }) => await started.get(ref)));
    expect(permits).toEqual([permit, permit]);
    expect(await replica.dataSource.query('select n from done order by n')).toEqual([
      { n: 1 },
      { n: 2 },
    ]);
    expect(await count(replica, `kind = 'test'`)).toBe(1);
    held.resolve();
  });

  it('does not start claimed work if it already runs or if its transaction fails', async () => {
    const replica = await open();
    const held = Promise.withResolvers<void>();
    let begun = 0;
    const one = async () => {
      begun += 1;
      await held.promise;
    };
    replica.work.define({ name: KIND, places: 4, one });
    await replica.start();
    const [work] = numbers(1);
    await add(replica, work!);
    await eventually(() => begun === 1);
    const again = (tx: Tx) => replica.work.addClaimed(tx, { name: KIND }, [work!]);
    expect(await replica.transactions.run(again)).toEqual(new Map());
    const failing = replica.transactions.run(async (tx) => {
      await replica.work.addClaimed(tx, { name: KIND }, numbers(1));
      throw new Error('No.');
    });
    await expect(failing).rejects.toThrow('No.');
    expect(await count(replica, `kind = 'test'`)).toBe(1);
    held.resolve();
    await eventually(async () => (await count(replica, `kind = 'test'`)) === 0);
    expect(begun).toBe(1);
  });

  it('leaves claimed work of a killed process to other workers', async () => {
    const replica = await open();
    await replica.transactions.run((tx) =>
      replica.get(WorkRepository).addClaimed(tx, OTHER, KIND, 1, numbers(1)),
    );
    const lapsed: boolean[] = [];
    replica.work.define({
      name: KIND,
      places: 1,
      one: async (row) => void lapsed.push(row.lapsed),
    });
    await replica.start();
    await eventually(() => lapsed.length === 1);
    expect(lapsed).toEqual([true]);
  });

  it('rejects a second definition of the same kind', async () => {
    const replica = await open();
    const kind = { name: KIND, places: 1, inSet: async () => undefined };
    replica.work.define(kind);
    expect(() => replica.work.define(kind)).toThrow(/already defined/);
  });
});
