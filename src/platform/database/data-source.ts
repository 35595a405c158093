import { DataSource, type MigrationInterface } from 'typeorm';
import type { Pool, PoolConfig } from 'pg';
import { learnTime } from '../clock.js';
import { PG_SNAPSHOT, XID8 } from './columns.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

export const MIGRATIONS_TABLE = 'schema_migrations';

export interface Schema {
  readonly entities: readonly (abstract new () => object)[];
  readonly migrations: readonly (new () => MigrationInterface)[];
}

export function createDataSource(schema: Schema, connection: PoolConfig): DataSource {
  const dataSource = new DataSource({
    type: 'postgres',
    entities: schema.entities as never[],
    migrations: schema.migrations as never[],
    migrationsTableName: MIGRATIONS_TABLE,
    synchronize: false,
    installExtensions: false,
    logging: false,
    // A broken idle connection must not end the process. The next query opens another connection.
    poolErrorHandler: () => undefined,
    extra: connection,
  });
  dataSource.driver.supportedDataTypes.push(XID8, PG_SNAPSHOT);
  return dataSource;
}

export function poolOf(dataSource: DataSource): Pool {
  return (dataSource.driver as PostgresDriver).master as Pool;
}

const TIME = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as told`;

export async function followDatabaseTime(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    // Connects first, because the measured time must not include the wait for a connection.
    await runner.connect();
    const [asked, begin] = [Date.now(), performance.now()];
    const [row] = await runner.manager.query<{ told: number }[]>(TIME);
    learnTime({ asked, told: row!.told, answered: asked + performance.now() - begin });
  } finally {
    await runner.release();
  }
}
