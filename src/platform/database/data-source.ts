import { DataSource, type EntitySchema, type MigrationInterface } from 'typeorm';
import type { PoolConfig } from 'pg';
import { PG_SNAPSHOT, XID8 } from './column-types.js';
import { ServicePool } from './service-pool.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

export const MIGRATIONS_TABLE = 'schema_migrations';

export interface Schema {
  readonly entities: readonly (abstract new () => object)[] | readonly EntitySchema[];
  readonly migrations: readonly (new () => MigrationInterface)[];
  /** Schemas that libraries make and change for themselves. */
  readonly librarySchemas?: readonly string[];
  /** Makes them, where the service runs as a role that may not. */
  readonly installLibraries?: (connection: PoolConfig) => Promise<void>;
}

export function createDataSource(
  schema: Schema,
  connection: PoolConfig,
  onPoolError: (error: Error) => void = () => undefined,
): DataSource {
  const dataSource = new DataSource({
    type: 'postgres',
    entities: schema.entities as never[],
    migrations: schema.migrations as never[],
    migrationsTableName: MIGRATIONS_TABLE,
    // The schema changes through migrations alone.
    synchronize: false,
    installExtensions: false,
    logging: false,
    // An idle connection that breaks must not end the process: the next query opens another.
    poolErrorHandler: onPoolError,
    driver: { Pool: ServicePool },
    extra: connection,
  });
  dataSource.driver.supportedDataTypes.push(XID8, PG_SNAPSHOT);
  return dataSource;
}

/** The pool under TypeORM, for hot paths: TypeORM does not name statements, so PostgreSQL would plan each one again. */
export function poolOf(dataSource: DataSource): ServicePool {
  return (dataSource.driver as PostgresDriver).master as ServicePool;
}

/** How the pool under TypeORM connects, for those who open connections of their own: the job queue, the kill switch. */
export function connectionOf(dataSource: DataSource): PoolConfig {
  return (dataSource.options as { extra?: PoolConfig }).extra ?? {};
}
