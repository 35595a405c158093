import { DataSource } from 'typeorm';
import { schema } from '../../src/app.schema.js';
import { loadSettings } from '../../src/platform/config/settings.js';
import { connectionOptions } from '../../src/platform/database/connection.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { Statements } from '../../src/platform/database/statements.js';
import { Transactions } from '../../src/platform/database/transactions.js';
import { createTestDatabase } from './test-database.js';
import { standingFor, useStarted } from './use-started.js';

export interface OpenTestDatabase {
  readonly url: string;
  readonly dataSource: DataSource;
  close(): Promise<void>;
}

/** Opens a migrated database and a data source, for tests below the HTTP interface. */
export async function openTestDatabase(): Promise<OpenTestDatabase> {
  const database = await createTestDatabase();
  const dataSource = createDataSource(schema, connectionOptions(database.url, loadSettings({})));
  await dataSource.initialize();
  return {
    url: database.url,
    dataSource,
    close: async () => {
      await dataSource.destroy();
      await database.drop();
    },
  };
}

/**
 * Opens a test database before the tests of the `describe` block and closes it after them. Its parts may be passed on
 * before the tests, but not used before them.
 */
export function useTestDatabase() {
  const open = useStarted(openTestDatabase);
  const dataSource = standingFor(() => open.dataSource);
  return {
    dataSource,
    transactions: new Transactions(dataSource),
    statements: new Statements(dataSource),
    query: <Rows = ReturnType<typeof JSON.parse>>(text: string, values?: unknown[]) =>
      dataSource.query<Rows>(text, values),
  };
}
