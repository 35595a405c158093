import type { Tx } from '../../src/platform/database/transactions.js';
import type { DomainEvent, NewEvent } from '../../src/platform/jobs/events/domain-event.js';
import { eventually } from '../support/jobs/eventually.js';
import { Replica } from '../support/jobs/replica.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const counted = (n: number): NewEvent => ({
  type: 'number.counted',
  subject: { type: 'number', id: String(n) },
  payload: { n },
});

describe('a handler in the transaction that takes the events', () => {
  let database: TestDatabase;
  let replicas: Replica[];

  beforeEach(async () => {
    database = await createTestDatabase();
    replicas = [await Replica.open(database.url), await Replica.open(database.url)];
    await replicas[0]!.dataSource.query('create table seen (n integer, at_once integer)');
  });
  afterEach(async () => {
    for (const replica of replicas) await replica.stop();
    await database.drop();
  });

  const query = <Row extends object>(text: string): Promise<Row[]> =>
    replicas[0]!.dataSource.query<Row[]>(text);
  const record = (...numbers: number[]): Promise<void> =>
    replicas[0]!.transactions.run((tx) => replicas[0]!.events.record(tx, ...numbers.map(counted)));
  const listen = (
    handler: (tx: Tx, events: readonly DomainEvent[]) => Promise<readonly DomainEvent[]>,
  ) => {
    for (const { events } of replicas) events.inTransaction(['number.counted'], 'counter', handler);
  };
  const keep = async (tx: Tx, events: readonly DomainEvent[]): Promise<readonly DomainEvent[]> => {
    for (const { subject } of events) {
      await tx.query('insert into seen values ($1, $2)', [subject.id, events.length]);
    }
    return [];
  };
  const start = () => Promise.all(replicas.map((replica) => replica.start()));
  const seen = async (): Promise<number[]> =>
    (await query<{ n: number }>('select n from seen order by n')).map(({ n }) => n);
  const seenAll = (count: number) => eventually(seen, ({ length }) => length >= count);
  const jobs = () => query('select 1 from pgboss.job_common where name = $$event.counter$$');
  const unhandled = () => query('select subject_id from unhandled_events');
  const numbers = Array.from({ length: 100 }, (_, n) => n);

  it('handles each event once, without a job, whichever replica takes it', async () => {
    listen(keep);
    await start();
    await Promise.all(numbers.map((n) => record(n)));
    expect(await seenAll(numbers.length)).toEqual(numbers);
    expect(await query('select 1 from processed_events')).toEqual([]);
    expect(await unhandled()).toEqual([]);
  });

  it('leaves each event to a job of its own when the work fails, and none is handled twice', async () => {
    let failures = 0;
    listen(async (tx, events) => {
      await keep(tx, events);
      if (events.some(({ subject }) => subject.id === '7') && (failures += 1) < 3) {
        throw new Error('Not now.');
      }
      return [];
    });
    await start();
    await record(...numbers);
    await seenAll(numbers.length - 1);
    expect(await eventually(unhandled, ({ length }) => length === 1)).toEqual([
      { subject_id: '7' },
    ]);
    expect(await seenAll(numbers.length)).toEqual(numbers);
    expect(await query('select distinct at_once from seen')).toEqual([{ at_once: 1 }]);
    await eventually(jobs, ({ length }) => length === 0);
  });

  it('gets an event again that it answers, and the others not', async () => {
    let isEarly = true;
    listen(async (tx, events) => {
      const early = isEarly ? events.filter(({ subject }) => subject.id === '3') : [];
      if (early.length > 0 && events.length === 1) isEarly = false;
      await keep(
        tx,
        events.filter((event) => !early.includes(event)),
      );
      return early;
    });
    await start();
    await record(1, 2, 3, 4);
    expect(await seenAll(3)).toEqual([1, 2, 4]);
    expect(await seenAll(4)).toEqual([1, 2, 3, 4]);
  });

  it('keeps no other handler waiting while it waits for a lock', async () => {
    const heard: string[] = [];
    listen(keep);
    replicas[0]!.events.on(['number.counted'], 'other', async ({ subject }) => {
      heard.push(subject.id);
    });
    replicas[1]!.events.on(['number.counted'], 'other', async ({ subject }) => {
      heard.push(subject.id);
    });
    await start();
    const busy = replicas[0]!.dataSource.createQueryRunner();
    try {
      await busy.startTransaction();
      await busy.query('lock table seen in access exclusive mode');
      await record(1);
      await eventually(
        () => heard,
        ({ length }) => length === 1,
      );
    } finally {
      await busy.rollbackTransaction();
      await busy.release();
    }
    expect(await seenAll(1)).toEqual([1]);
  });
});
