import type { Tx } from '../../src/platform/database/transactions.js';
import type { DomainEvent, NewEvent } from '../../src/platform/work/domain-events.js';
import { eventually } from '../support/jobs/eventually.js';
import { Replica } from '../support/jobs/replica.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const COUNTED = { types: ['number.counted'] };

const counted = (n: number): NewEvent => ({
  type: 'number.counted',
  subject: { type: 'number', id: String(n) },
  payload: { n },
});

describe('domain events', () => {
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
    for (const { events } of replicas) events.inTransaction(COUNTED, 'counter', handler);
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
  const waiting = () =>
    query<{ n: string }>(`select data #>> '{subject,id}' as n from work where kind like 'event.%'`);
  const numbers = Array.from({ length: 100 }, (_, n) => n);

  it('are handled once on two replicas, in a transaction', async () => {
    listen(keep);
    await start();
    await Promise.all(numbers.map((n) => record(n)));
    expect(await seenAll(numbers.length)).toEqual(numbers);
    expect(await eventually(waiting, ({ length }) => length === 0)).toEqual([]);
    expect(await query('select from domain_events')).toEqual([]);
  });

  it('are handled in the order of writing', async () => {
    const heard: number[] = [];
    replicas[0]!.events.inTransaction(COUNTED, 'counter', async (_, events) => {
      heard.push(...events.map(({ subject }) => Number(subject.id)));
    });
    await replicas[0]!.start();
    await record(...numbers);
    await eventually(() => heard.length === numbers.length);
    expect(heard).toEqual(numbers);
  });

  it('are retried in their own transactions after a failed batch, and are handled once', async () => {
    let isFailing = true;
    listen(async (tx, events) => {
      await keep(tx, events);
      if (isFailing && events.some(({ subject }) => subject.id === '7')) {
        throw new Error('Not now.');
      }
      return [];
    });
    await start();
    await record(...numbers);
    await seenAll(numbers.length - 1);
    expect(await eventually(waiting, ({ length }) => length === 1)).toEqual([{ n: '7' }]);
    isFailing = false;
    expect(await seenAll(numbers.length)).toEqual(numbers);
    expect(await query('select distinct at_once from seen')).toEqual([{ at_once: 1 }]);
    await eventually(waiting, ({ length }) => length === 0);
  });

  it('are repeated only if the handler returns them', async () => {
    let isEarly = true;
    listen(async (tx, events) => {
      const early = isEarly ? events.filter(({ subject }) => subject.id === '3') : [];
      if (early.length > 0) isEarly = false;
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

  it('do not block other handlers while one handler waits for a lock', async () => {
    const heard: string[] = [];
    listen(keep);
    for (const { events } of replicas) {
      events.on(COUNTED, 'other', async ({ subject }) => void heard.push(subject.id));
    }
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

  it('reach only handlers of their type and payload, with all fields', async () => {
    const heard: DomainEvent[] = [];
    const { events } = replicas[0]!;
    events.on({ ...COUNTED, where: '$.n == 2 || exists($.special)' }, 'some', async (event) => {
      heard.push(event);
    });
    events.on({ types: ['letter.counted'] }, 'letters', async (event) => void heard.push(event));
    await replicas[0]!.start();
    const before = Date.now();
    await record(1, 2, 3);
    const after = Date.now();
    await eventually(waiting, ({ length }) => length === 0);
    const [event, ...others] = heard;
    expect(others).toEqual([]);
    expect(event).toEqual({
      ...counted(2),
      id: expect.any(String),
      occurredAt: expect.any(String),
    });
    const at = Date.parse(event!.occurredAt);
    expect([before <= at, at <= after]).toEqual([true, true]);
  });

  it('are retried after a failed handler, and do not block other events', async () => {
    const heard: number[] = [];
    let tries = 0;
    replicas[0]!.events.on(COUNTED, 'partly', async ({ subject }) => {
      if (subject.id === '13' && (tries += 1) < 3) throw new Error('Unlucky.');
      heard.push(Number(subject.id));
    });
    await replicas[0]!.start();
    await record(...numbers);
    await eventually(() => heard.length === numbers.length);
    expect(heard.at(-1)).toBe(13);
  });
});
