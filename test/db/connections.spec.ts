import type { DataSource } from 'typeorm';
import { loadSettings } from '../../src/platform/config/load-settings.js';
import { connectionOptions } from '../../src/platform/database/connection.js';
import { createDataSource, poolOf } from '../../src/platform/database/data-source.js';
import { sqlStateOf, SQLSTATE } from '../../src/platform/database/sqlstate.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { UnavailableError, toAppError } from '../../src/platform/errors/app-error.js';
import { eventually } from '../support/jobs/eventually.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const MOST = 8;

describe('the connections of the service', () => {
  let database: TestDatabase;
  let admin: DataSource;
  let dataSource: DataSource;

  const connect = (waitMs: number) => {
    const settings = loadSettings({
      DATABASE_POOL_SIZE: String(MOST),
      DATABASE_CONNECT_TIMEOUT_MS: String(waitMs),
    });
    const schema = { entities: [], migrations: [] };
    return createDataSource(schema, connectionOptions(database.url, settings)).initialize();
  };

  /** Beside the one connection by which the test sets it. */
  const allow = async (connections: number): Promise<void> => {
    const name = new URL(database.url).pathname.slice(1);
    await admin.query(`alter database ${name} connection limit ${connections + 1}`);
  };

  beforeEach(async () => {
    database = await createTestDatabase({ empty: true });
    const schema = { entities: [], migrations: [] };
    admin = await createDataSource(schema, { connectionString: database.url, max: 1 }).initialize();
  });
  afterEach(async () => {
    const open = [dataSource, admin].filter((one) => one.isInitialized);
    await Promise.all(open.map((one) => one.destroy()));
    await database.drop();
  });

  it('have JIT compilation disabled', async () => {
    dataSource = await connect(20_000);
    expect(await dataSource.query('show jit')).toEqual([{ jit: 'off' }]);
  });

  it('run statements and transactions on the open connections if no more can be opened', async () => {
    dataSource = await connect(20_000);
    await allow(3);
    const transactions = new Transactions(dataSource);
    const work = Array.from({ length: 100 }, (_, n) =>
      n % 2 === 0
        ? transactions.run((tx) => tx.query<unknown[]>('select pg_sleep(0.01)'))
        : poolOf(dataSource).query('select pg_sleep(0.01)'),
    );
    const refused = (await Promise.allSettled(work)).filter(({ status }) => status === 'rejected');
    expect(refused).toEqual([]);
    const { totalCount, idleCount, waitingCount } = poolOf(dataSource);
    expect([waitingCount, totalCount - idleCount]).toEqual([0, 0]);
    expect(totalCount).toBeLessThanOrEqual(3);
  });

  it('are opened again once the server accepts them', async () => {
    dataSource = await connect(20_000);
    await allow(2);
    const pool = poolOf(dataSource);
    const burst = () =>
      Promise.all(Array.from({ length: MOST }, () => pool.query('select pg_sleep(0.1)')));
    await burst();
    expect(pool.totalCount).toBeLessThanOrEqual(2);
    await allow(MOST);
    await eventually(burst, () => pool.totalCount === MOST);
  });

  it('time out as usual if no open connection becomes free', async () => {
    dataSource = await connect(300);
    await allow(1);
    const held = await poolOf(dataSource).connect();
    const error: unknown = await poolOf(dataSource)
      .query('select 1')
      .catch((thrown: unknown) => thrown);
    held.release();
    expect(String(error)).toContain('timeout exceeded when trying to connect');
    // The caller is told to come again: 503 with Retry-After.
    expect(toAppError(error)).toBeInstanceOf(UnavailableError);
    expect((await poolOf(dataSource).query('select 1 as n')).rows).toEqual([{ n: 1 }]);
  });

  it('fail immediately if no connection is open', async () => {
    dataSource = await connect(20_000);
    const pool = poolOf(dataSource);
    await allow(0);
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await eventually(
      () => pool.totalCount,
      (count) => count === 0,
    );
    const error: unknown = await pool.query('select 1').catch((thrown: unknown) => thrown);
    expect(sqlStateOf(error)).toBe(SQLSTATE.tooManyConnections);
    await allow(MOST);
    await pool.query('select 1');
  });
});
