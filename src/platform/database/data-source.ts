import { DataSource, type EntitySchema, type MigrationInterface } from 'typeorm';
import { type PoolConfig, Pool, type PoolClient } from 'pg';
import { PG_SNAPSHOT, XID8 } from './columns.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { SQLSTATE, sqlStateOf } from './sqlstate.js';

export const MIGRATIONS_TABLE = 'schema_migrations';

export interface Schema {
  readonly entities: readonly (abstract new () => object)[] | readonly EntitySchema[];
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
    // A broken idle connection must not end the process: the next query opens another one.
    poolErrorHandler: () => undefined,
    driver: { Pool: ServicePool },
    extra: connection,
  });
  dataSource.driver.supportedDataTypes.push(XID8, PG_SNAPSHOT);
  return dataSource;
}

export function poolOf(dataSource: DataSource): ServicePool {
  return (dataSource.driver as PostgresDriver).master as ServicePool;
}

const FULL_FOR_MS = 1_000;

type Callback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: PoolClient['release'],
) => void;

/** Tolerates "too many connections": callers wait for an existing connection. If there is none, they get the error. */
export class ServicePool extends Pool {
  private readonly most: number;
  private fullUntil = 0;

  constructor(config: PoolConfig) {
    super(config);
    this.most = this.options.max;
    // Called before the pool connects for the next caller, so that the pool already has the lower limit.
    Object.assign(this.options, { attempted: (error: unknown) => this.attempted(error) });
  }

  private attempted(error: unknown): void {
    if (!isFull(error)) return;
    // totalCount still includes the refused connection.
    this.options.max = Math.max(1, this.totalCount - 1);
    this.fullUntil = performance.now() + FULL_FOR_MS;
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<PoolClient> | void {
    const connecting = this.connectPatiently();
    if (!callback) return connecting;
    connecting.then(
      (client) => callback(undefined, client, (error) => client.release(error)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
  }

  private async connectPatiently(): Promise<PoolClient> {
    const deadline = performance.now() + (this.options.connectionTimeoutMillis ?? 0);
    for (;;) {
      const now = performance.now();
      if (now >= this.fullUntil) this.options.max = this.most;
      try {
        return await super.connect();
      } catch (error) {
        if (!isFull(error) || this.totalCount === 0 || now >= deadline) throw error;
      }
    }
  }
}

function isFull(error: unknown): boolean {
  return sqlStateOf(error) === SQLSTATE.tooManyConnections;
}
