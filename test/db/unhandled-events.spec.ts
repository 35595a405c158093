import type { NewEvent } from '../../src/platform/jobs/events/domain-event.js';
import {
  sendUnhandledEventsAgain,
  UnhandledEvents,
} from '../../src/platform/jobs/events/handled-events.js';
import { eventually } from '../support/jobs/eventually.js';
import { Replica } from '../support/jobs/replica.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const counted = (n: number): NewEvent => ({
  type: 'number.counted',
  subject: { type: 'number', id: String(n) },
  payload: { n },
});

describe('an event on its way to a handler that wants it in backups', () => {
  let database: TestDatabase;
  let replica: Replica;

  beforeEach(async () => {
    database = await createTestDatabase();
    replica = await Replica.open(database.url);
  });
  afterEach(async () => {
    await replica.stop();
    await database.drop();
  });

  const record = (...numbers: number[]): Promise<void> =>
    replica.transactions.run((tx) => replica.events.record(tx, ...numbers.map(counted)));
  const unhandled = async (): Promise<string[]> => {
    const rows = await replica.dataSource.query<{ one: string }[]>(
      `select handler || ' ' || subject_id as one from unhandled_events order by subject_id`,
    );
    return rows.map(({ one }) => one);
  };
  const listen = (name: string, handler: (n: number) => Promise<void>, inBackup = true) =>
    replica.events.on(['number.counted'], name, ({ subject }) => handler(Number(subject.id)), {
      inBackup,
    });

  it('is a row until it is handled, and no row for any other handler', async () => {
    const gate = Promise.withResolvers<void>();
    const heard: number[] = [];
    listen('careful', () => gate.promise);
    listen('quick', async (n) => void heard.push(n), false);
    await replica.start();
    await record(1, 2);
    await eventually(
      () => heard,
      (numbers) => numbers.length === 2,
    );
    expect(await unhandled()).toEqual(['careful 1', 'careful 2']);
    gate.resolve();
    await eventually(unhandled, (rows) => rows.length === 0);
  });

  it('stays a row while handling it fails, also where others of its batch were handled', async () => {
    listen('careful', async (n) => {
      if (n === 2) throw new Error('Not now.');
    });
    await replica.start();
    await record(1, 2, 3);
    expect(await eventually(unhandled, (rows) => rows.length === 1)).toEqual(['careful 2']);
  });

  it('is sent again to all handlers after a restore, once', async () => {
    const gate = Promise.withResolvers<void>();
    listen('careful', () => gate.promise);
    listen('diligent', () => gate.promise);
    await replica.start();
    await record(1);
    await eventually(unhandled, (rows) => rows.length === 2);
    const [outbox] = await replica.transactions.run(async (tx) => {
      await sendUnhandledEventsAgain(tx);
      return await tx.query<object[]>(
        `select array_agg(type || ' ' || subject_id || ' ' || payload) as sent from domain_events`,
      );
    });
    expect(outbox).toEqual({ sent: ['number.counted 1 {"n": 1}'] });
    gate.resolve();
    await eventually(unhandled, (rows) => rows.length === 0);
  });

  it('is forgotten when nobody has wanted it for longer than dead jobs are kept', async () => {
    listen('careful', async () => {
      throw new Error('Never.');
    });
    await replica.start();
    await record(1);
    await eventually(unhandled, (rows) => rows.length === 1);
    await replica.get(UnhandledEvents).prune();
    expect(await unhandled()).toHaveLength(1);
    await replica.dataSource.query(
      `update unhandled_events set event_id = '0100d2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e'`,
    );
    await replica.get(UnhandledEvents).prune();
    expect(await unhandled()).toEqual([]);
  });
});
