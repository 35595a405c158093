import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { DataSource } from 'typeorm';
import { connectionOf, createDataSource, type Schema } from './data-source.js';
import { type Statement, Statements } from './statements.js';
import { type Participant, Transactions, type Tx } from './transactions.js';

const CONNECTIONS = 3;

/**
 * A small pool of connections beside the one that everything shares, for two things that must never wait behind other
 * work: turning the kill switch on or off, and finding out who asks for that. Each use holds a connection briefly.
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

  /** Connects at the start, while the server still has a free connection. */
  async onApplicationBootstrap(): Promise<void> {
    // The service starts without a database, too; the next use then tries again.
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
    // The same entities as the shared pool has: whatever takes part in a transaction may use their repositories.
    const { entities } = this.shared.options;
    const schema = { entities: entities as Schema['entities'], migrations: [] };
    return createDataSource(schema, connection).initialize();
  }
}
