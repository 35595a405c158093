import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Pool, type QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { SQLSTATE, sqlStateOf } from './sqlstate.js';
import { type Statement, Statements } from './statements.js';
import { type Participant, Transactions, type Tx } from './transactions.js';

const CONNECTIONS = 3;

/** Reserves connections for changes of the kill switch and their authentication. Fallback: the shared pool. */
@Injectable()
export class ReservedConnections implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly pool: Pool;
  private readonly own: DataSource;

  constructor(private readonly shared: DataSource) {
    const { options, driver } = shared;
    const { extra } = options as { extra?: object };
    this.pool = new Pool({ ...extra, max: CONNECTIONS, idleTimeoutMillis: 0 });
    this.pool.on('error', () => undefined);
    const master = { value: this.pool };
    this.own = Object.create(shared, {
      driver: { value: Object.create(driver, { master }) as object },
    }) as DataSource;
    Object.defineProperty(this.own, 'manager', { value: this.own.createEntityManager() });
  }

  async run<T>(
    work: (tx: Tx) => Promise<T>,
    ...participants: readonly Participant<T>[]
  ): Promise<T> {
    return await this.onEither((one) => new Transactions(one).run(work, ...participants));
  }

  async rows<R extends QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    return await this.onEither((one) => new Statements(one).rows<R>(statement, values));
  }

  /** Connects at the start, while the server has free connections. The service also starts without a database. */
  async onApplicationBootstrap(): Promise<void> {
    await this.pool.query('select').catch(() => undefined);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }

  private async onEither<T>(use: (one: DataSource) => Promise<T>): Promise<T> {
    try {
      return await use(this.own);
    } catch (error) {
      // With this error, PostgreSQL has refused a new connection, so no statement was executed.
      if (sqlStateOf(error) !== SQLSTATE.tooManyConnections) throw error;
      return await use(this.shared);
    }
  }
}
