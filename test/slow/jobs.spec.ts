import { defineQueue } from '../../src/platform/jobs/jobs.js';
import { JobWorkers } from '../../src/platform/jobs/pg-boss/job-workers.js';
import { eventually } from '../support/jobs/eventually.js';
import { Replica } from '../support/jobs/replica.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

interface Numbered {
  readonly n: number;
}

describe('the job queue', () => {
  const plain = defineQueue<Numbered>('plain');
  const failing = defineQueue<Numbered>('failing', { retryLimit: 2, retryDelaySeconds: 1 });
  const keyed = defineQueue<Numbered>('keyed');
  const unattended = defineQueue<Numbered>('unattended');
  const single = defineQueue<Numbered>('single');

  let database: TestDatabase;
  let replica: Replica;
  const ran: number[] = [];
  const attempts: { n: number; attempt: number }[] = [];
  let broken = true;
  let keyedRuns: number[] = [];
  let keyedGate: Promise<void> = Promise.resolve();

  beforeAll(async () => {
    database = await createTestDatabase();
    replica = await Replica.open(database.url);
    replica.jobs.work(plain, async ({ n }) => void ran.push(n));
    replica.jobs.work(failing, async ({ n }, { attempt }) => {
      attempts.push({ n, attempt });
      // With what no column of PostgreSQL takes, as a message may quote it.
      if (broken) throw new Error(`Number ${n} does not work: \0`);
    });
    replica.jobs.work(
      keyed,
      async ({ n }) => {
        keyedRuns.push(n);
        await keyedGate;
      },
      { concurrency: 1 },
    );
    replica.jobs.work(single, async () => undefined);
    await replica.start();
  });
  afterAll(async () => {
    await replica.stop();
    await database.drop();
  });

  const inTransaction: Replica['transactions']['run'] = (work, ...participants) =>
    replica.transactions.run(work, ...participants);
  const hasRun = (n: number) => eventually(() => ran.includes(n));
  const keyedRan = (count: number) => eventually(() => keyedRuns.length === count);

  it('runs what was committed, and never what was rolled back', async () => {
    await inTransaction((tx) => replica.jobs.enqueue(tx, plain, { n: 1 }));
    await expect(
      inTransaction(async (tx) => {
        await replica.jobs.enqueue(tx, plain, { n: 2 });
        await replica.jobs.enqueue(tx, plain, { n: 3 }, { singletonKey: 'three' });
        await replica.jobs.enqueueMany(tx, plain, [{ n: 4 }, { n: 5 }]);
        throw new Error('The change failed.');
      }),
    ).rejects.toThrow('The change failed.');
    // Jobs of a queue are taken in the order of their enqueueing.
    await inTransaction((tx) => replica.jobs.enqueueMany(tx, plain, [{ n: 6 }, { n: 7 }]));

    await hasRun(6);
    await hasRun(7);
    expect(ran.toSorted()).toEqual([1, 6, 7]);
  });

  it('starts a job after its commit, without waiting for a poll', async () => {
    const start = jest.spyOn(JobWorkers.prototype, 'start').mockReturnValue();
    const unpolled = await Replica.open(database.url);
    const queue = defineQueue<Numbered>('unpolled');
    unpolled.jobs.work(queue, async ({ n }) => void ran.push(n));
    await unpolled.start();
    await eventually(() => start.mock.calls.length);
    start.mockRestore();
    await unpolled.transactions.run((tx) => unpolled.jobs.enqueue(tx, queue, { n: 100 }));
    await hasRun(100);
    await unpolled.stop();
  });

  it('does not run a job before its time', async () => {
    const runAt = new Date(Date.now() + 3_600_000);
    await inTransaction((tx) => replica.jobs.enqueue(tx, plain, { n: 200 }, { runAt }));
    await inTransaction((tx) => replica.jobs.enqueue(tx, plain, { n: 201 }));
    await hasRun(201);
    expect(ran).not.toContain(200);
    await replica.dataSource.query(
      `update pgboss.job set start_after = now() where name = 'plain' and start_after > now()`,
    );
    await hasRun(200);
  });

  it('tries again twice, then keeps the job as dead until someone requeues it', async () => {
    await inTransaction((tx) => replica.jobs.enqueue(tx, failing, { n: 1 }));
    const [dead] = await eventually(
      async () => (await replica.dead.list({ queue: 'failing', page: 1, per_page: 20 })).items,
      (list) => list.length === 1,
    );

    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(dead).toMatchObject({
      queue: 'failing',
      attempts: 3,
      error: 'Number 1 does not work: \ufffd',
      data: { n: 1 },
    });
    expect(dead!.created_at.getTime()).toBeGreaterThan(dead!.enqueued_at.getTime());
    expect(await stateOf('failing')).toEqual({ queue: 'failing', waiting: 0, active: 0, dead: 1 });

    broken = false;
    expect(await inTransaction((tx) => replica.dead.requeue(tx, dead!.id))).toBe(true);
    await eventually(() => attempts.length === 4);
    expect(attempts[3]).toMatchObject({ n: 1, attempt: 1 });
    expect(await replica.dead.list({ page: 1, per_page: 20 })).toEqual({ items: [], total: 0 });
    expect(await inTransaction((tx) => replica.dead.requeue(tx, dead!.id))).toBe(false);
    expect(await inTransaction((tx) => replica.dead.requeue(tx, 'nonsense'))).toBe(false);
  });

  it('has one waiting job per singleton key, with the newest data', async () => {
    let open: () => void = () => undefined;
    keyedGate = new Promise((resolve) => (open = resolve));
    const enqueue = (n: number, singletonKey: string): Promise<void> =>
      inTransaction((tx) => replica.jobs.enqueue(tx, keyed, { n }, { singletonKey }));

    await enqueue(1, 'a');
    await keyedRan(1);
    // The first runs, so it is not waiting: the next one is a job of its own, and the others become it.
    await enqueue(2, 'a');
    await Promise.all([3, 4, 5, 6].map((n) => enqueue(n, 'a')));
    await enqueue(7, 'a');
    await enqueue(8, 'b');
    expect(await stateOf('keyed')).toMatchObject({ waiting: 2, active: 1 });

    open();
    await keyedRan(3);
    expect(await stateOf('keyed')).toMatchObject({ waiting: 0 });
    expect(keyedRuns).toEqual([1, 7, 8]);
  });

  it('does not start a waiting job while its new data are not committed yet', async () => {
    let open: () => void = () => undefined;
    keyedGate = new Promise((resolve) => (open = resolve));
    keyedRuns = [];
    await inTransaction((tx) => replica.jobs.enqueue(tx, keyed, { n: 1 }));
    await keyedRan(1);
    await inTransaction((tx) => replica.jobs.enqueue(tx, keyed, { n: 2 }, { singletonKey: 'c' }));
    await inTransaction(async (tx) => {
      await replica.jobs.enqueue(tx, keyed, { n: 3 }, { singletonKey: 'c' });
      // The worker is free now, and the job is due: run with the old data it would miss what this transaction changes.
      open();
      await inTransaction((other) =>
        replica.jobs.enqueue(other, keyed, { n: 9 }, { singletonKey: 'd' }),
      );
      await eventually(() => keyedRuns.includes(9));
      expect(keyedRuns).toEqual([1, 9]);
    });
    await keyedRan(3);
    expect(keyedRuns).toEqual([1, 9, 3]);
  });

  it('takes jobs for a queue that nobody here works on', async () => {
    await inTransaction((tx) => replica.jobs.enqueue(tx, unattended, { n: 1 }));
    expect(await stateOf('unattended')).toMatchObject({ waiting: 1, active: 0, dead: 0 });
  });

  it('refuses a job that is too large, a second worker and a bad name', async () => {
    const large = { n: 1, text: 'x'.repeat(1024 * 1024) };
    await expect(inTransaction((tx) => replica.jobs.enqueue(tx, plain, large))).rejects.toThrow(
      /bytes of JSON/,
    );
    expect(() => replica.jobs.work(single, async () => undefined)).toThrow(
      /queue single already has a handler/,
    );
    expect(() => defineQueue('Not A Name')).toThrow(/not a valid queue name/);
  });

  it('leaves no rows of jobs that are done', async () => {
    await eventually(
      () =>
        replica.dataSource.query<{ state: string }[]>(
          `select state from pgboss.job where name = 'plain'`,
        ),
      (rows) => rows.length === 0,
    );
  });

  async function stateOf(queue: string) {
    return (await replica.jobs.waiting()).find((state) => state.queue === queue);
  }
});
