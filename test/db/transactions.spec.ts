import type { DataSource } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectionOptions, TIME_LIMITS } from '../../src/platform/database/connection.js';
import { createDataSource, poolOf } from '../../src/platform/database/data-source.js';
import { isConnectionLost, isDatabaseUnavailable } from '../../src/platform/database/sqlstate.js';
import { RowsAtCommit, Statements } from '../../src/platform/database/statements.js';
import { afterCommit, Transactions, type Tx } from '../../src/platform/database/transactions.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const STATEMENT_MS = 1_000;
const LIMITS = { statementMs: STATEMENT_MS, connectMs: 500 };

/**
 * Blocks each caller until `expected` callers have arrived, so that the race begins at the same point for all of them.
 */
function meeting(expected: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let come = 0;
  return () => {
    come += 1;
    if (come === expected) resolve();
    return promise;
  };
}

describe('the class Transactions', () => {
  let database: TestDatabase;
  let direct: DataSource;
  let proxy: TcpProxy;
  let dataSource: DataSource;
  let transactions: Transactions;

  const connect = (url: string, limits = LIMITS): Promise<DataSource> =>
    createDataSource(
      { entities: [], migrations: [] },
      connectionOptions(url, { databasePoolSize: 4 }, limits),
    ).initialize();

  beforeAll(async () => {
    database = await createTestDatabase({ empty: true });
    direct = await connect(database.url);
    await direct.query('create table notes (text text primary key, n int not null default 0)');
    const before = await TcpProxy.before(database.url);
    proxy = before.proxy;
    dataSource = await connect(before.url);
    transactions = new Transactions(dataSource);
  });
  afterAll(async () => {
    await Promise.all([dataSource.destroy(), direct.destroy()]);
    await proxy.close();
    await database.drop();
  });
  beforeEach(() => direct.query('truncate notes'));
  afterEach(async () => {
    proxy.restore();
    expect((await transactions.run((tx) => tx.query<unknown[]>('select 1'))).length).toBe(1);
    const pool = poolOf(dataSource);
    expect([pool.waitingCount, pool.totalCount - pool.idleCount]).toEqual([0, 0]);
  });

  const note = (tx: Tx, text: string) => tx.query('insert into notes (text) values ($1)', [text]);
  const notes = async (): Promise<string[]> =>
    (await direct.query<{ text: string }[]>('select text from notes order by text')).map(
      ({ text }) => text,
    );

  it('commits the changes of the work and returns its result', async () => {
    expect(await transactions.run(async (tx) => (await note(tx, 'a'), 7))).toBe(7);
    expect(await notes()).toEqual(['a']);
  });

  it('rolls back if the work throws, and throws the same error', async () => {
    const thrown = new Error('no');
    const run = transactions.run(async (tx) => {
      await note(tx, 'a');
      throw thrown;
    });
    await expect(run).rejects.toBe(thrown);
    expect(await notes()).toEqual([]);
  });

  it('lets participants begin before the work and finish after it, in their order', async () => {
    const said: string[] = [];
    const participant = (name: string) => ({
      begin: async () => void said.push(`${name} begins`),
      finish: async (_: Tx, result: string) => void said.push(`${name} finishes with ${result}`),
    });
    await transactions.run(
      async () => (said.push('work'), 'it'),
      participant('a'),
      {},
      participant('b'),
    );
    expect(said).toEqual([
      'a begins',
      'b begins',
      'work',
      'a finishes with it',
      'b finishes with it',
    ]);
  });

  it('runs no work if a participant refuses, and rolls back if a participant fails at the end', async () => {
    const work = jest.fn((tx: Tx) => note(tx, 'a'));
    const refuses = { begin: () => Promise.reject(new Error('revoked')) };
    await expect(transactions.run(work, refuses)).rejects.toThrow('revoked');
    expect(work).not.toHaveBeenCalled();
    const fails = { finish: () => Promise.reject(new Error('twin')) };
    await expect(transactions.run(work, fails)).rejects.toThrow('twin');
    expect(await notes()).toEqual([]);
  });

  it('runs commit callbacks after the commit, and never after a rollback', async () => {
    const seen: Promise<string[]>[] = [];
    await transactions.run(async (tx) => {
      await note(tx, 'a');
      afterCommit(tx, () => seen.push(notes()));
      expect(seen).toEqual([]);
    });
    expect(await Promise.all(seen)).toEqual([['a']]);

    const never = jest.fn();
    const run = transactions.run(async (tx) => {
      afterCommit(tx, never);
      await note(tx, 'a');
    });
    await expect(run).rejects.toThrow('duplicate key');
    expect(never).not.toHaveBeenCalled();
  });

  it('writes the rows of all tables in one statement before the commit, and no rows after a failure', async () => {
    const statements = new Statements(dataSource);
    const rowsIn = jest.spyOn(statements, 'rowsIn');
    const text = (parameter: number) =>
      `insert into notes (text) select unnest($${parameter}::text[])`;
    const insert = { parameters: 1, text, values: (rows: readonly string[]) => [rows] };
    const rows = new RowsAtCommit<string>(statements, 'notes', insert);
    const others = new RowsAtCommit<string>(statements, 'others', insert);
    const stored = async () => await direct.query(`select from notes where text like 'late %'`);
    await transactions.run(async (tx) => {
      rows.add(tx, ['late a']);
      rows.add(tx, []);
      others.add(tx, ['late b']);
      rows.add(tx, ['late c', 'late d']);
      expect(rowsIn).not.toHaveBeenCalled();
    });
    const failing = transactions.run(async (tx) => {
      rows.add(tx, ['late e']);
      throw new Error('No.');
    });
    await expect(failing).rejects.toThrow('No.');
    expect(rowsIn).toHaveBeenCalledTimes(1);
    expect(await stored()).toHaveLength(4);
  });

  it('repeats the victim of a deadlock from its start, and runs commit callbacks once', async () => {
    await direct.query(`insert into notes values ('x'), ('y')`);
    const told = jest.fn();
    // PostgreSQL looks for deadlocks after 1 s. In the other pool, a statement times out after the same time.
    const patient = await connect(database.url, TIME_LIMITS);
    const itsTransactions = new Transactions(patient);
    let attempts = 0;
    const bothHold = meeting(2);
    const crossing = (first: string, second: string) =>
      itsTransactions.run(async (tx) => {
        attempts += 1;
        afterCommit(tx, told);
        await tx.query('update notes set n = n + 1 where text = $1', [first]);
        await bothHold();
        await tx.query('update notes set n = n + 1 where text = $1', [second]);
      });
    await Promise.all([crossing('x', 'y'), crossing('y', 'x')]);
    await patient.destroy();
    const sums = await direct.query<{ n: number }[]>('select n from notes order by text');
    expect(sums.map(({ n }) => n)).toEqual([2, 2]);
    expect(told).toHaveBeenCalledTimes(2);
    // There are more attempts if the loser repeats its work before the winner has continued.
    expect(attempts).toBeGreaterThanOrEqual(3);
  });

  it('repeats the loser of a serialisation conflict', async () => {
    await direct.query(`insert into notes values ('x')`);
    let attempts = 0;
    const allHaveRead = meeting(3);
    const increments = Array.from({ length: 3 }, () =>
      transactions.run(async (tx) => {
        attempts += 1;
        await tx.query('set transaction isolation level repeatable read');
        const [row] = await tx.query<{ n: number }[]>(`select n from notes where text = 'x'`);
        await allHaveRead();
        await tx.query(`update notes set n = $1 where text = 'x'`, [row!.n + 1]);
      }),
    );
    await Promise.all(increments);
    expect((await direct.query<{ n: number }[]>('select n from notes'))[0]!.n).toBe(3);
    expect(attempts).toBeGreaterThan(3);
  });

  it('gives up after repeated serialisation conflicts', async () => {
    let attempts = 0;
    const run = transactions.run(async (tx) => {
      attempts += 1;
      await tx.query(`do $$ begin raise exception 'lost' using errcode = '40001'; end $$`);
    });
    const error: unknown = await run.catch((thrown: unknown) => thrown);
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(isConnectionLost(error)).toBe(false);
    expect(attempts).toBe(4);
  });

  it('reports the database as unavailable if the answer to COMMIT is lost, whether the commit succeeded or not', async () => {
    const told = jest.fn();
    let attempts = 0;
    const run = transactions.run(async (tx) => {
      attempts += 1;
      afterCommit(tx, told);
      await note(tx, 'a');
      proxy.mute();
    });
    const failed = run.catch((thrown: unknown) => thrown);
    for (const end = Date.now() + 5_000; (await notes()).length === 0; await sleep(10)) {
      if (Date.now() > end) throw new Error('The commit never arrived.');
    }
    proxy.cut();
    expect(isConnectionLost(await failed)).toBe(true);
    expect(told).not.toHaveBeenCalled();
    expect(attempts).toBe(1);
    expect(await notes()).toEqual(['a']);
  });

  it('reports the database as unavailable if the server ends the session in COMMIT and commits nothing', async () => {
    await direct.query(`
      create function die() returns trigger language plpgsql as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`);
    await direct.query(`
      create constraint trigger die after insert on notes deferrable initially deferred
        for each row execute function die()`);
    try {
      const error: unknown = await transactions
        .run((tx) => note(tx, 'a'))
        .catch((thrown: unknown) => thrown);
      expect(isConnectionLost(error)).toBe(true);
      expect(await notes()).toEqual([]);
    } finally {
      await direct.query('drop trigger die on notes');
      await direct.query('drop function die');
    }
  });

  it('closes a hung connection instead of reusing it', async () => {
    const pidOf = async () =>
      (
        await transactions.run((tx) =>
          tx.query<{ pid: number }[]>('select pg_backend_pid() as pid'),
        )
      )[0]!.pid;
    const pid = await pidOf();
    proxy.hang();
    const error: unknown = await new Statements(dataSource)
      .rows({ name: 'hang', text: 'select 1' })
      .catch((thrown: unknown) => thrown);
    expect(isConnectionLost(error)).toBe(true);
    // The server still hangs, so the client itself closes the connection.
    while (poolOf(dataSource).totalCount > 0) await sleep(10);
    proxy.restore();
    expect(await pidOf()).not.toBe(pid);
  });

  it('refuses statements of a transaction that has ended', async () => {
    let kept: Tx | undefined;
    await transactions.run(async (tx) => void (kept = tx));
    const late = new Statements(dataSource).rowsIn(kept, { name: 'late', text: 'select 1' });
    await expect(late).rejects.toThrow(/released/);
  });

  it('releases every connection if many transactions fail at the same time', async () => {
    const runs = Array.from({ length: 60 }, (_, i) =>
      transactions.run(async (tx) => {
        await note(tx, String(i % 3));
        if (i % 2) throw new Error('no');
      }),
    );
    const outcome = await Promise.allSettled(runs);
    expect(outcome.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
  });
});
