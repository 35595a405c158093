import { setTimeout as sleep } from 'node:timers/promises';
import type { Tx } from '../../src/platform/database/transactions.js';
import {
  type DomainEvent,
  eventOf,
  type NewEvent,
} from '../../src/platform/jobs/events/domain-event.js';
import { eventRows, insertEvents } from '../../src/platform/jobs/events/event-outbox.js';
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

  it('reach every handler that listens, as they were recorded, and leave the outbox empty', async () => {
    const replica = await open();
    const first: DomainEvent[] = [];
    const second: DomainEvent[] = [];
    replica.events.on(['number.counted'], 'first', async (event) => void first.push(event));
    replica.events.on(
      ['number.counted', 'number.lost'],
      'second',
      async (event) => void second.push(event),
    );
    await replica.start();
    const lost: NewEvent = {
      type: 'number.lost',
      subject: { type: 'number', id: '3' },
      payload: {},
    };
    await record(replica, counted(1), counted(2), lost, { ...lost, type: 'nobody.cares' });
    await eventually(
      () => second,
      (events) => events.length === 3,
    );
    await eventually(
      () => first,
      (events) => events.length === 2,
    );

    expect(second.map(({ type, subject, payload }) => ({ type, subject, payload }))).toEqual([
      counted(1),
      counted(2),
      lost,
    ]);
    expect(first.map(({ id }) => id)).toEqual(second.slice(0, 2).map(({ id }) => id));
    expect(await inOutbox(replica)).toBe(0);
  });

  it('reach nobody when the change is rolled back', async () => {
    const replica = await open();
    const heard: number[] = [];
    replica.events.on(['number.counted'], 'all', async (event) => void heard.push(numberOf(event)));
    await replica.start();
    await expect(
      replica.transactions.run(async (tx) => {
        await replica.events.record(tx, counted(1));
        throw new Error('The change failed.');
      }),
    ).rejects.toThrow('The change failed.');
    await record(replica, counted(2));
    await eventually(
      () => heard,
      (numbers) => numbers.length > 0,
    );
    await sleep(1_200);

    expect(heard).toEqual([2]);
  });

  it('can be inserted by a statement of the hot path itself', async () => {
    const replica = await open();
    const heard: DomainEvent[] = [];
    replica.events.on(['number.counted'], 'all', async (event) => void heard.push(event));
    await replica.start();
    const event = eventOf(counted(5), new Date('2026-11-21T10:00:00.123Z'));
    await replica.dataSource.query(`with news as (${insertEvents('$1')}) select 1`, [
      eventRows([event]),
    ]);
    replica.events.wake();

    expect(
      await eventually(
        () => heard,
        (events) => events.length === 1,
      ),
    ).toEqual([event]);
  });

  it('are relayed for a replica that was killed after its commit', async () => {
    const replica = await open();
    const heard: number[] = [];
    replica.events.on(['number.counted'], 'all', async (event) => void heard.push(numberOf(event)));
    await replica.start();
    // No wake: this is what a killed replica leaves.
    await replica.dataSource.query(insertEvents('$1'), [
      eventRows([eventOf(counted(1), new Date())]),
    ]);
    await eventually(
      () => heard,
      (numbers) => numbers.length === 1,
      2_000,
    );
  });

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
    await eventually(
      () => partly,
      (numbers) => numbers.length === 29,
    );
    await eventually(
      () => good,
      (numbers) => numbers.length === 30,
    );
    await eventually(
      () => tries,
      (count) => count >= 3,
    );
    expect(new Set(partly).size).toBe(29);
    expect(good).toHaveLength(30);

    broken = false;
    await eventually(
      () => partly,
      (numbers) => numbers.length === 30,
    );
    expect(partly.at(-1)).toBe(13);
  });

  it('end as dead jobs, one for each event, when the handler always fails, and can be requeued', async () => {
    const replica = await open();
    let broken = true;
    const heard: number[] = [];
    replica.events.on(['number.counted'], 'broken', async (event) => {
      if (broken) throw new Error('Never.');
      heard.push(numberOf(event));
    });
    await replica.start();
    // As at the end of all retries, only sooner.
    await replica.dataSource.query(
      `update pgboss.queue set retry_limit = 0 where name = 'event.broken'`,
    );
    await record(replica, counted(1), counted(2));
    const dead = await eventually(
      async () => (await replica.dead.list({ queue: 'event.broken', page: 1, per_page: 20 })).items,
      (jobs) => jobs.length === 2,
    );
    expect(dead[0]!.error).toBe('Never.');

    broken = false;
    for (const { id } of dead) {
      const requeued = await replica.transactions.run((tx) => replica.dead.requeue(tx, id));
      expect(requeued).toBe(true);
    }
    await eventually(
      () => heard,
      (numbers) => numbers.length === 2,
    );
    expect(heard.toSorted()).toEqual([1, 2]);
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
    await eventually(
      () => batches,
      (numbers) => numbers.includes(2),
    );
    // Number 2 did not wait until number 1 came through.
    expect(stuck).toBe(true);
    stuck = false;
    await eventually(
      () => batches.filter((n) => n === 1).length,
      (count) => count >= 1,
    );
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

  it('have their work done once when the same event comes again', async () => {
    const replica = await open();
    await replica.start();
    const event = eventOf(counted(1), new Date());
    const first = () =>
      replica.transactions.run((tx) => replica.events.firstTime(tx, 'handler', event));
    const answers = await Promise.all([first(), first(), first()]);

    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await first()).toBe(false);
    expect(
      await replica.transactions.run((tx) => replica.events.firstTime(tx, 'another', event)),
    ).toBe(true);
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

  it('refuses a payload that is too large', async () => {
    const replica = await open();
    await expect(
      record(replica, { ...counted(1), payload: { text: 'x'.repeat(17_000) } }),
    ).rejects.toThrow(/payload of number.counted has/);
  });
});
