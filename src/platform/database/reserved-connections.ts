import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { connectionOf, createDataSource } from './data-source.js';
import { type Statement, Statements } from './statements.js';
import { type Participant, Transactions, type Tx } from './transactions.js';

const CONNECTIONS = 3;
const NO_SCHEMA = { entities: [], migrations: [] };

/**
 * Connections for what must never queue behind the work of others: turning the kill switch, and finding out who asks
 * for it. Each holds one for a moment only.
 */
@Injectable()
export class ReservedConnections implements OnApplicationBootstrap, OnApplicationShutdown {
  private opening?: Promise<DataSource>;

  constructor(private readonly shared: DataSource) {}

  async run<T>(
    work: (tx: Tx) => Promise<T>,
    ...participants: readonly Participant<T>[]
  ): Promise<T> {
    return await new Transactions(await this.open()).run(work, ...participants);
  }

  async rows<R extends QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    return await new Statements(await this.open()).rows<R>(statement, values);
  }

  /** In advance, while the server still has a place for one more. */
  async onApplicationBootstrap(): Promise<void> {
    // Without a database the service starts all the same, and the next use tries again.
    await this.open().catch(() => undefined);
  }

  async onApplicationShutdown(): Promise<void> {
    const opened = await this.opening?.catch(() => undefined);
    await opened?.destroy();
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
    return createDataSource(NO_SCHEMA, connection).initialize();
  }
}
