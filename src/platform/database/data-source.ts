import { DataSource, type EntitySchema, type MigrationInterface } from 'typeorm';
import { type PoolConfig, Pool, type PoolClient } from 'pg';
import { PG_SNAPSHOT, XID8 } from './columns.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { Connecting } from './connection.js';
import { isConnectionLost, SQLSTATE, sqlStateOf } from './sqlstate.js';

export const MIGRATIONS_TABLE = 'schema_migrations';

export interface Schema {
  readonly entities: readonly (abstract new () => object)[] | readonly EntitySchema[];
  readonly migrations: readonly (new () => MigrationInterface)[];
}

export function createDataSource(
  schema: Schema,
  connection: PoolConfig,
  onConnectionLost: (error: unknown) => void = () => undefined,
): DataSource {
  const dataSource = new DataSource({
    type: 'postgres',
    entities: schema.entities as never[],
    migrations: schema.migrations as never[],
    migrationsTableName: MIGRATIONS_TABLE,
    // Only migrations change the schema.
    synchronize: false,
    installExtensions: false,
    logging: false,
    // A broken idle connection must not end the process: the next query opens another one.
    poolErrorHandler: onConnectionLost,
    driver: { Pool: ServicePool },
    extra: { ...connection, onConnectionLost },
  });
  dataSource.driver.supportedDataTypes.push(XID8, PG_SNAPSHOT);
  return dataSource;
}

/** The pool under TypeORM, for hot paths with named statements. */
export function poolOf(dataSource: DataSource): ServicePool {
  return (dataSource.driver as PostgresDriver).master as ServicePool;
}

/** Options of the pool under TypeORM, for components with their own connections: job queue, kill switch. */
export function connectionOf(dataSource: DataSource): PoolConfig {
  return (dataSource.options as { extra?: PoolConfig }).extra ?? {};
}

/** Pause before another connection attempt after the server refused one. */
const CLOSED_FOR_MS = 1_000;
const TOLD_EVERY_MS = 60_000;

type Callback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: PoolClient['release'],
) => void;

/**
 * A pool that survives "too many connections": it continues with its existing connections, and callers wait for a free
 * one instead of getting an error. A pool without any connection passes the error on.
 */
export class ServicePool extends Pool implements Connecting {
  /** Called at most once a minute, with the number of existing connections. */
  onFull: (connections: number) => void = () => undefined;
  private readonly most: number;
  private underWay = 0;
  private closedUntil = 0;
  private toldAt = -Infinity;

  /** @param config `onConnectionLost` is called before the caller gets the error */
  constructor(
    private readonly config: PoolConfig & { onConnectionLost?: (error: unknown) => void },
  ) {
    super(config);
    this.most = this.options.max;
    Object.assign(this.options, { connecting: this });
  }

  attemptBegins(): void {
    this.underWay += 1;
  }

  /** Runs before the pool learns of the failure, so that the pool does not retry for the next caller at once. */
  attemptEnds(error: unknown): void {
    this.underWay -= 1;
    if (isConnectionLost(error)) this.broke(error);
    if (sqlStateOf(error) !== SQLSTATE.tooManyConnections) return;
    // totalCount still includes the refused connection.
    const connected = this.totalCount - this.underWay - 1;
    if (connected < 1) return;
    const now = performance.now();
    this.options.max = connected;
    this.closedUntil = now + CLOSED_FOR_MS;
    if (now < this.toldAt + TOLD_EVERY_MS) return;
    this.toldAt = now;
    this.onFull(connected);
  }

  broke(error: unknown): void {
    this.config.onConnectionLost?.(error);
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
      if (now >= this.closedUntil) this.options.max = this.most;
      try {
        return await super.connect();
      } catch (error) {
        const isFull = sqlStateOf(error) === SQLSTATE.tooManyConnections;
        if (!isFull || this.options.max === this.most || now >= deadline) throw error;
      }
    }
  }
}
