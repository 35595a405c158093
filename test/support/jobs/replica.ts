import { Test, type TestingModule } from '@nestjs/testing';
import type { LoggerService } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { schema } from '../../../src/app.schema.js';
import { PlatformModule } from '../../../src/platform/platform.module.js';
import { loadSettings } from '../../../src/platform/config/settings.js';
import { connectionOptions } from '../../../src/platform/database/connection.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { Transactions } from '../../../src/platform/database/transactions.js';
import { Work } from '../../../src/platform/work/work.js';
import { DomainEvents } from '../../../src/platform/work/domain-events.js';

const silent: LoggerService = { log() {}, error() {}, warn() {} };

/** Jobs and events of one replica, wired like in the service, on a database that replicas share. */
export class Replica {
  private constructor(
    private readonly module: TestingModule,
    readonly dataSource: DataSource,
  ) {}

  /** Opens a replica without starting it, so that handlers can be registered first. */
  static async open(url: string, environment: NodeJS.ProcessEnv = {}): Promise<Replica> {
    const SECRETS_KEY = Buffer.alloc(32).toString('base64');
    const settings = loadSettings({ SECRETS_KEY, ...environment });
    const dataSource = createDataSource(schema, connectionOptions(url, settings));
    await dataSource.initialize();
    const module = await Test.createTestingModule({
      imports: [PlatformModule.on(settings, dataSource)],
    })
      .setLogger(silent)
      .compile();
    return new Replica(module, dataSource);
  }

  readonly get = <T>(type: abstract new (...args: never[]) => T): T => this.module.get<T>(type);

  get work(): Work {
    return this.get(Work);
  }

  get events(): DomainEvents {
    return this.get(DomainEvents);
  }

  get transactions(): Transactions {
    return this.get(Transactions);
  }

  async start(): Promise<this> {
    await this.module.init();
    return this;
  }

  async stop(): Promise<void> {
    await this.module.close();
    await this.dataSource.destroy();
  }
}
