import { setTimeout as sleep } from 'node:timers/promises';
import type { Tx } from '../../src/platform/database/transactions.js';
import type { DomainEvent, NewEvent } from '../../src/platform/jobs/events/domain-event.js';
import { eventually } from '../support/jobs/eventually.js';
import { Replica } from '../support/jobs/replica.js';
import { listenOnce } from '../support/jobs/replica-app.js';
import { ReplicaProcess } from '../support/jobs/replica-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const counted = (n: number): NewEvent<{ n: number }> => ({
  type: 'number.counted',
  subject: { type: 'number', id: String(n) },
  payload: { n },
});
const numberOf = (event: DomainEvent): number => Number(event.subject.id);

describe('domain events', () => {
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

  async function open(): Promise<Replica> {
    const replica = await Replica.open(database.url);
    replicas.push(replica);
    return replica;
  }

  const record = (replica: Replica, ...news: NewEvent[]): Promise<void> =>
    replica.transactions.run((tx) => replica.events.record(tx, ...news));

  const inOutbox = async (replica: Replica): Promise<number> =>
    (await replica.dataSource.query<unknown[]>('select 1 from domain_events')).length;

  it('are tried again one by one when a handler fails on them, and hold up nothing else', async () => {
    const replica = await open();
    const good: number[] = [];
    const partly: number[] = [];
    let broken = true;
    let tries = 0;
    replica.events.on(['number.counted'], 'good', async (event) => void good.push(numberOf(event)));
    replica.events.on(['number.counted'], 'partly', async (event) => {
      if (numberOf(event) === 13) {
        tries += 1;
        if (broken) throw new Error('Unlucky.');
      }
      partly.push(numberOf(event));
    });
    await replica.start();
    await record(replica, ...Array.from({ length: 30 }, (_, n) => counted(n)));
    await eventually(() => partly.length === 29);
    await eventually(() => good.length === 30);
    await eventually(() => tries >= 3);
    expect(new Set(partly).size).toBe(29);
    expect(good).toHaveLength(30);

    broken = false;
    await eventually(() => partly.length === 30);
    expect(partly.at(-1)).toBe(13);
  });

  it('are delivered one by one when the first attempt of their batch died', async () => {
    const replica = await open();
    const batches: number[] = [];
    let stuck = true;
    replica.events.on(['number.counted'], 'stuck', async (event) => {
      if (numberOf(event) === 1 && stuck) await sleep(3_000);
      batches.push(numberOf(event));
    });
    await replica.start();
    await replica.dataSource.query(
      `update pgboss.queue set expire_seconds = 1 where name = 'event.stuck'`,
    );
    await record(replica, counted(0), counted(1), counted(2));
    await eventually(() => batches.includes(2));
    // Number 2 did not wait until number 1 came through.
    expect(stuck).toBe(true);
    stuck = false;
    await eventually(() => batches.filter((n) => n === 1).length >= 1);
  });

  it('are handled exactly once with firstTime when 32 writers record them and two replicas relay', async () => {
    const two = await Promise.all([open(), open()]);
    await two[0].dataSource.query('create table done (n integer not null)');
    let deliveries = 0;
    for (const { events, transactions } of two) {
      events.on(['number.counted'], 'sum', async (event) => {
        deliveries += 1;
        await transactions.run(async (tx: Tx) => {
          if (await events.firstTime(tx, 'sum', event)) {
            await tx.query('insert into done values ($1)', [numberOf(event)]);
          }
          // Some fail after their work: it is rolled back with the mark.
          if (deliveries % 97 === 0) throw new Error('Cut in the middle.');
        });
      });
    }
    await Promise.all(two.map((replica) => replica.start()));
    let next = 0;
    await Promise.all(
      Array.from({ length: 32 }, async (_, writer) => {
        while (next < 1_000) await record(two[writer % 2]!, counted(next++));
      }),
    );
    await eventually(
      () => two[0].dataSource.query<{ n: number }[]>('select n from done'),
      (rows) => rows.length >= 1_000,
    );
    await sleep(500);
    const rows = await two[0].dataSource.query<{ n: number }[]>('select n from done order by n');

    expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
    expect(await inOutbox(two[0])).toBe(0);
  });

  it('survive the process being killed at any moment: none is lost, none is handled twice', async () => {
    const replica = await open();
    await replica.dataSource.query('create table heard (id text not null)');
    const recorded: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const process = new ReplicaProcess(database.url, 'record');
      await process.said('recorded');
      await sleep(100 + 70 * round);
      await process.kill();
      recorded.push(...process.lines.flatMap((line) => /^recorded (.+)\.$/.exec(line)?.[1] ?? []));
    }
    // The jobs that the killed ones held come back sooner than after the real 10 s.
    await replica.dataSource.query(
      `with q as (update pgboss.queue set heartbeat_seconds = 2)
       update pgboss.job set heartbeat_seconds = 2`,
    );
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
