import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { connectionOf, createDataSource, type Schema } from './data-source.js';
import { SQLSTATE, sqlStateOf } from './sqlstate.js';
import { type Statement, Statements } from './statements.js';
import { type Participant, Transactions, type Tx } from './transactions.js';

const CONNECTIONS = 3;
/** How long the shared pool is used after the server refused a reserved connection. */
const FULL_FOR_MS = 1_000;

/**
 * A small pool beside the shared pool, for two tasks that must never wait behind other work: switching the kill switch,
 * and authenticating the request for it. Each use is brief. If the server refuses these connections, the shared pool is
 * used instead; otherwise a ready replica could not be used.
 */
@Injectable()
export class ReservedConnections implements OnApplicationBootstrap, OnApplicationShutdown {
  private opening?: Promise<DataSource>;
  private fullUntil = -Infinity;

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
    // The service also starts without a database. The next use retries.
    await this.open().catch(() => undefined);
  }

  async onApplicationShutdown(): Promise<void> {
    const opened = await this.opening?.catch(() => undefined);
    await opened?.destroy();
  }

  private async onEither<T>(use: (one: DataSource) => Promise<T>): Promise<T> {
    if (performance.now() < this.fullUntil) return await use(this.shared);
    try {
      return await use(await this.open());
    } catch (error) {
      // PostgreSQL refuses only new connections, so nothing has been executed.
      if (sqlStateOf(error) !== SQLSTATE.tooManyConnections) throw error;
      this.fullUntil = performance.now() + FULL_FOR_MS;
      return await use(this.shared);
    }
  }

  private open(): Promise<DataSource> {
    this.opening ??= this.connect().catch((error: unknown) => {
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  private connect(): Promise<DataSource> {
    const connection = { ...connectionOf(this.shared), max: CONNECTIONS, idleTimeoutMillis: 0 };
    // The same entities as the shared pool: participants of a transaction may use their repositories.
    const { entities } = this.shared.options;
    const schema = { entities: entities as Schema['entities'], migrations: [] };
    return createDataSource(schema, connection).initialize();
  }
}
