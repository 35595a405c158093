import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { schema } from '../../../src/app.schema.js';
import type { AuditLog } from '../../../src/audit/audit-log.js';
import { AppError } from '../../../src/platform/errors/app-error.js';
import { loadSettings } from '../../../src/platform/config/load-settings.js';
import { connectionOptions } from '../../../src/platform/database/connection.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { Statements } from '../../../src/platform/database/statements.js';
import { Transactions } from '../../../src/platform/database/transactions.js';
import type { DomainEvents } from '../../../src/platform/jobs/events/domain-events.js';
import {
  RegisteredWork,
  EarlierPermits,
  KillSwitchActivation,
} from '../../../src/kill-switch/kill-switch-activation.js';
import { KillSwitchRepository } from '../../../src/kill-switch/kill-switch.repository.js';
import { KillSwitchService } from '../../../src/kill-switch/kill-switch.service.js';
import { PermitLapsed } from '../../../src/kill-switch/kill-switch.js';
import { ReservedConnections } from '../../../src/platform/database/reserved-connections.js';
import type { HistoryRecord } from './history.js';

const NOBODY = {
  name: 'test',
  role: 'admin',
  begin: () => Promise.resolve(),
} as const;
const SILENT_AUDIT = { record: async () => undefined } as unknown as AuditLog;
const SILENT_EVENTS = { record: async () => undefined } as unknown as DomainEvents;

export interface Parts {
  readonly Repository: typeof KillSwitchRepository;
  readonly earlierPermits: EarlierPermits;
}

/** One replica's kill switch on a connection pool of its own, which writes down what it does. */
export class SwitchReplica {
  readonly killSwitch: KillSwitchService;
  readonly transactions: Transactions;
  readonly work = new RegisteredWork();
  private readonly activation: KillSwitchActivation;
  private readonly connections: ReservedConnections;
  private committed = 0;

  private constructor(
    readonly number: number,
    private readonly dataSource: DataSource,
    { Repository, earlierPermits }: Parts,
    private readonly history: HistoryRecord[],
  ) {
    const repository = new Repository(dataSource, new Statements(dataSource));
    this.transactions = new Transactions(dataSource);
    this.connections = new ReservedConnections(dataSource);
    const watched: EarlierPermits = {
      waitUntilLapsed: async (age) => {
        this.committed = performance.now();
        await earlierPermits.waitUntilLapsed(age);
      },
    };
    this.killSwitch = new KillSwitchService(this.transactions, repository, this.work);
    this.activation = new KillSwitchActivation(
      this.connections,
      repository,
      watched,
      this.work,
      SILENT_AUDIT,
      SILENT_EVENTS,
    );
  }

  static async open(
    number: number,
    url: string,
    history: HistoryRecord[],
    {
      Repository = KillSwitchRepository,
      earlierPermits = new EarlierPermits(),
      poolSize = 8,
    }: Partial<Parts> & {
      readonly poolSize?: number;
    } = {},
  ): Promise<SwitchReplica> {
    const settings = loadSettings({ DATABASE_POOL_SIZE: String(poolSize) });
    const dataSource = createDataSource(schema, connectionOptions(url, settings));
    await dataSource.initialize();
    const replica = new SwitchReplica(number, dataSource, { Repository, earlierPermits }, history);
    await replica.connections.onApplicationBootstrap();
    return replica;
  }

  async activate(): Promise<void> {
    const asked = performance.now();
    await this.activation.activate(NOBODY, 'a test', {});
    const answered = performance.now();
    this.history.push({ kind: 'activation', asked, committed: this.committed, answered });
  }

  async deactivate(): Promise<void> {
    this.history.push({ kind: 'deactivation', asked: performance.now() });
    await this.activation.deactivate(NOBODY, { reason: 'a test', discard: false }, {});
  }

  /** Claims, with `inClaim` ms of other work in the transaction, and sends `beforeSending` ms later. */
  async claim(inClaim: number, beforeSending: number): Promise<'sent' | 'refused' | 'lapsed'> {
    let committing = 0;
    let permit;
    try {
      permit = await this.transactions.run(async (tx) => {
        const given = await this.killSwitch.claimPermit(tx);
        await tx.query(`select pg_sleep(${inClaim / 1000})`);
        committing = performance.now();
        return given;
      });
    } catch (error) {
      if (error instanceof AppError && error.code === 'kill_switch_active') return 'refused';
      throw error;
    }
    await sleep(beforeSending);
    const outcome = this.send(() => permit.assertFresh());
    this.history.push({ kind: 'claim', replica: this.number, committing, ...outcome });
    return outcome.sent === undefined ? 'lapsed' : 'sent';
  }

  async close(): Promise<void> {
    await this.connections.onApplicationShutdown();
    await this.dataSource.destroy();
  }

  private send(check: () => void): { sent?: number } {
    try {
      check();
      return { sent: performance.now() };
    } catch (error) {
      if (error instanceof PermitLapsed) return {};
      throw error;
    }
  }
}
