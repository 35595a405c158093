import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { connectionOf, createDataSource } from '../database/data-source.js';
import { type Participant, Transactions, type Tx } from '../database/transactions.js';

const CONNECTIONS = 2;
const NO_SCHEMA = { entities: [], migrations: [] };

/**
 * Connections for turning the switch and nothing else: whoever needs it most must not queue behind the very work that
 * is to be stopped.
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
