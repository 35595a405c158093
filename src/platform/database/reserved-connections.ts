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

/** For changes of the kill switch and their authentication, which must never wait. Fallback: the shared pool. */
@Injectable()
export class ReservedConnections implements OnApplicationBootstrap, OnApplicationShutdown {
  private opened?: { readonly pool: Pool; readonly dataSource: DataSource };

  constructor(private readonly shared: DataSource) {}

  async run<T>(
    work: (tx: Tx) => Promise<T>,
    ...participants: readonly Participant<T>[]
  ): Promise<T> {
    return await this.onEither((one) => new Transactions(one).run(work, ...participants));
  }

  async rows<R extends QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    return await this.onEither((one) => new Statements(one).rows<R>(statement, values));
  }

  /** Connects at the start, while the server still has free connections. */
  async onApplicationBootstrap(): Promise<void> {
    // The service also starts without a database, so a failure is ignored here.
    await this.open()
      .pool.query('select')
      .catch(() => undefined);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.opened?.pool.end();
  }

  private async onEither<T>(use: (one: DataSource) => Promise<T>): Promise<T> {
    try {
      return await use(this.open().dataSource);
    } catch (error) {
      // With this error, PostgreSQL has refused a new connection, so no statement was executed.
      if (sqlStateOf(error) !== SQLSTATE.tooManyConnections) throw error;
      return await use(this.shared);
    }
  }

  private open() {
    if (this.opened) return this.opened;
    const { options, driver } = this.shared;
    const { extra } = options as { extra?: object };
    const pool = new Pool({ ...extra, max: CONNECTIONS, idleTimeoutMillis: 0 });
    pool.on('error', () => undefined);
    const own = { driver: { value: Object.create(driver, { master: { value: pool } }) as object } };
    this.opened = { pool, dataSource: Object.create(this.shared, own) as DataSource };
    return this.opened;
  }
}
