import type { DataSource } from 'typeorm';
import { loadSettings } from '../../src/platform/config/settings.js';
import { connectionOptions } from '../../src/platform/database/connection.js';
import { createDataSource, poolOf } from '../../src/platform/database/data-source.js';
import { sqlStateOf, SQLSTATE } from '../../src/platform/database/sqlstate.js';
import { UnavailableError, toAppError } from '../../src/platform/errors/app-error.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('the connections of the service', () => {
  let database: TestDatabase;
  let admin: DataSource;
  let dataSource: DataSource;

  const connect = () => {
    const schema = { entities: [], migrations: [] };
    return createDataSource(schema, connectionOptions(database.url, loadSettings({}))).initialize();
  };

  /** Allows one more connection than `connections`, because the test itself uses a connection. */
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
    dataSource = await connect();
    expect(await dataSource.query('show jit')).toEqual([{ jit: 'off' }]);
  });

  it('reject a statement that needs a new connection while the server accepts no connections', async () => {
    dataSource = await connect();
    await allow(1);
    const pool = poolOf(dataSource);
    const held = await pool.connect();
    const error: unknown = await pool.query('select 1').catch((thrown: unknown) => thrown);
    held.release();
    expect(sqlStateOf(error)).toBe(SQLSTATE.tooManyConnections);
    // With this error, callers get 503 with Retry-After.
    expect(toAppError(error)).toBeInstanceOf(UnavailableError);
    expect((await pool.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
  });
});
