import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { defineQueue } from '../../src/platform/jobs/jobs.js';
import { eventually } from '../support/jobs/eventually.js';
import { Replica } from '../support/jobs/replica.js';
import { hangingQueue, listenOnce } from '../support/jobs/replica-app.js';
import { ReplicaProcess } from '../support/jobs/replica-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

interface Numbered {
  readonly n: number;
}

const shared = defineQueue<Numbered>('shared');

let database: TestDatabase;
const replicas: Replica[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await ReplicaProcess.killAll();
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
  await database.drop();
});

async function open(environment: NodeJS.ProcessEnv = {}): Promise<Replica> {
  const replica = await Replica.open(database.url, environment);
  replicas.push(replica);
  return replica;
}

describe('the job queue on several replicas', () => {
  const enqueue = (replica: Replica, count: number): Promise<void> =>
    replica.transactions.run((tx) =>
      replica.jobs.enqueueMany(
        tx,
        shared,
        Array.from({ length: count }, (_, n) => ({ n })),
      ),
    );

  it('shares the work, and runs nothing twice', async () => {
    const ran: { n: number; by: number }[] = [];
    const two = await Promise.all([open(), open()]);
    two.forEach((replica, by) =>
      replica.jobs.work(shared, async ({ n }) => {
        await sleep(5);
        ran.push({ n, by });
      }),
    );
    await Promise.all(two.map((replica) => replica.start()));
    // Long enough for the other one's poll.
    await enqueue(two[0], 2_000);
    await eventually(() => ran.length >= 2_000);
    await sleep(500);

    expect(ran).toHaveLength(2_000);
    expect(new Set(ran.map(({ n }) => n)).size).toBe(2_000);
    expect(new Set(ran.map(({ by }) => by)).size).toBe(2);
  });

  it('runs the job of a killed worker again on another', async () => {
    const ran: { n: number; attempt: number }[] = [];
    const survivor = await open();
    survivor.jobs.work(hangingQueue, async ({ n }, { attempt }) => void ran.push({ n, attempt }));
    const victim = new ReplicaProcess(database.url, 'hang');
    await victim.said('started');
    // The real one is 10 s (see test/chaos); what is told here is the same, only sooner.
    await survivor.dataSource.query(`update pgboss.queue set heartbeat_seconds = 2`);
    const producer = await open();
    await producer.start();
    await producer.transactions.run((tx) => producer.jobs.enqueue(tx, hangingQueue, { n: 7 }));
    expect(await victim.said('took')).toBe('took 7');
    await victim.kill();
    await survivor.start();

    await eventually(() => ran.length === 1);
    expect(ran).toEqual([{ n: 7, attempt: 2 }]);
  });

  it('leaves a long job to the worker that is alive, and tells one that lost its claim', async () => {
    let runs = 0;
    let told: unknown;
    const two = await Promise.all([open(), open()]);
    for (const { jobs } of two) {
      jobs.work(shared, async (_data, { signal }) => {
        runs += 1;
        await sleep(60_000, undefined, { signal }).catch(() => (told = signal.reason));
      });
    }
    await Promise.all(two.map((replica) => replica.start()));
    await two[0].dataSource.query('update pgboss.queue set heartbeat_seconds = 4');
    await enqueue(two[0], 1);
    await sleep(9_000);
    expect(runs).toBe(1);
    expect(told).toBeUndefined();

    await two[0].dataSource.query(
      `update pgboss.job set retry_count = retry_count + 1 where name = 'shared'`,
    );
    expect(
      await eventually(
        () => told,
        (reason) => reason !== undefined,
      ),
    ).toMatchObject({ message: 'Another worker has taken over the job.' });
  });

  it('goes on by itself after every connection of the queue was cut', async () => {
    const ran: number[] = [];
    const replica = await open();
    replica.jobs.work(shared, async ({ n }) => {
      await sleep(20);
      ran.push(n);
    });
    await replica.start();
    const admin = new Client(database.url);
    await admin.connect();
    for (let round = 0; round < 5; round += 1) {
      await enqueue(replica, 20);
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like '%-jobs'`,
      );
    }
    await admin.end();

    await eventually(() => ran.length >= 100);
  });

  it('stops when the running jobs have ended, and takes no others', async () => {
    const started: number[] = [];
    const ended: number[] = [];
    const replica = await Replica.open(database.url);
    replica.jobs.work(
      shared,
      async ({ n }) => {
        started.push(n);
        await sleep(700);
        ended.push(n);
      },
      { concurrency: 2 },
    );
    await replica.start();
    await enqueue(replica, 5);
    await eventually(() => started.length === 2);
    await replica.stop();

    expect(ended).toHaveLength(2);
    expect(started).toHaveLength(2);
    const other = await open();
    await other.start();
    expect(await other.jobs.waiting()).toContainEqual({
      queue: 'shared',
      waiting: 3,
      active: 0,
      dead: 0,
    });
  });

  it('leaves a job that outlasts the grace to the others, and tells its handler', async () => {
    let told: unknown;
    const replica = await Replica.open(database.url, { SHUTDOWN_GRACE_MS: '1000' });
    replica.jobs.work(shared, async (_data, { signal }) => {
      await sleep(20_000, undefined, { signal }).catch(() => (told = signal.reason as unknown));
    });
    await replica.start();
    await enqueue(replica, 1);
    await eventually(
      () => replica.jobs.waiting(),
      ([state]) => state?.active === 1,
    );
    await replica.stop();

    expect(told).toMatchObject({ message: 'The service is stopping.' });
    const other = await open();
    await other.start();
    expect(await other.jobs.waiting()).toContainEqual({
      queue: 'shared',
      waiting: 0,
      active: 1,
      dead: 0,
    });
  });
});

describe('domain events', () => {
  it('survive the process being killed at any moment: none is lost, none is handled twice', async () => {
    const replica = await open();
    await replica.dataSource.query('create table heard (id text not null)');
    const recorded: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const process = new ReplicaProcess(database.url, 'record');
      const done = () => process.lines.flatMap((line) => /^recorded (.+)\.$/.exec(line)?.[1] ?? []);
      await eventually(() => done().length > 10 + round);
      await process.kill();
      recorded.push(...done());
    }
    listenOnce(replica);
    await replica.start();
    const heard = await eventually(
      () => replica.dataSource.query<{ id: string }[]>('select id from heard'),
      (rows) => {
        const ids = new Set(rows.map(({ id }) => id));
        return recorded.every((id) => ids.has(id));
      },
    );

    expect(recorded.length).toBeGreaterThan(40);
    expect(new Set(heard.map(({ id }) => id)).size).toBe(heard.length);
  });
});
