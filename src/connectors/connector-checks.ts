import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { Clock } from '../platform/clock.js';
import { Semaphore } from '../platform/concurrency/semaphore.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../platform/database/transactions.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import type { Caller } from '../platform/http/caller.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import { DomainEvents } from '../platform/work/domain-events.js';
import { Work } from '../platform/work/work.js';
import { shownMessage } from './calls/vendor-answers.js';
import { CONNECTOR_TYPES, ConnectorRegistry, servingOf } from './connector-registry.js';
import type { TestResult } from './connector-type.js';
import type { ConnectorEntity } from './connector.entity.js';
import { ConnectorsRepository } from './connectors.repository.js';

const PERIOD_SECONDS = 60;
const AT_ONCE = 4;
/** A slower answer makes the connector degraded. */
const SLOW_MS = 3_000;

/** Checks the connectors: regularly on one replica at a time, and on request. */
@Injectable()
export class ConnectorChecks implements OnModuleInit {
  private readonly logger = new Logger(ConnectorChecks.name);

  constructor(
    private readonly transactions: Transactions,
    private readonly connectors: ConnectorsRepository,
    private readonly configured: ConnectorRegistry,
    private readonly events: DomainEvents,
    private readonly audit: AuditLog,
    private readonly work: Work,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.work.every('check-connectors', PERIOD_SECONDS, () => this.checkAll());
  }

  async checkAll(): Promise<void> {
    const due = (await this.connectors.all()).filter((row) => row.enabled && this.isDue(row));
    const places = new Semaphore(AT_ONCE);
    await Promise.all(due.map((row) => places.run(() => this.check(row))));
  }

  /** Test on request. The result is stored like that of a regular check. */
  async test(
    caller: Caller,
    id: string,
    idempotency: Participant<TestResult>,
  ): Promise<TestResult> {
    const row = await this.connectors.get(id);
    const result = await this.tested(row);
    const write = async (tx: Tx): Promise<TestResult> => {
      await this.store(tx, row, result);
      const details = { name: row.name, success: result.success };
      const subject = { type: 'connector', id };
      const action = 'connector.tested';
      await this.audit.record(tx, { actor: caller.name, action, subject, details });
      return result;
    };
    return await this.transactions.run(write, caller, idempotency);
  }

  private async tested(row: ConnectorEntity): Promise<TestResult> {
    const result = await this.configured.connectorOf(row).test();
    return { ...result, message: shownMessage(result.message) };
  }

  private isDue({ type, last_checked_at }: ConnectorEntity): boolean {
    const checkedEveryMs = CONNECTOR_TYPES.find(type)?.checkedEveryMs ?? 0;
    const lastCheck = last_checked_at?.getTime() ?? -Infinity;
    return this.clock.now().getTime() - lastCheck >= checkedEveryMs;
  }

  private async check(row: ConnectorEntity): Promise<void> {
    try {
      const result = await this.tested(row);
      await this.transactions.run((tx) => this.store(tx, row, result));
    } catch (err) {
      // A failure here must not stop the checks of other connectors.
      this.logger.error({ err, connector: row.name }, 'A connector could not be checked');
    }
  }

  private async store(tx: Tx, row: ConnectorEntity, result: TestResult): Promise<void> {
    const { success, message, latency_ms } = result;
    const health = !success ? 'unhealthy' : latency_ms > SLOW_MS ? 'degraded' : 'healthy';
    const turn = await this.connectors.recordCheck(tx, row, health, result);
    if (!turn) return;
    const { id, name, type } = row;
    await this.events.record(tx, {
      type: turn.isUnhealthy ? 'connector.unhealthy' : 'connector.recovered',
      subject: { type: 'connector', id },
      payload: { name, type, message, unhealthy_since: turn.since?.toISOString() },
    });
    // Once, on the replica that stored the change.
    const about = { connector: name, type, reason: message };
    afterCommit(tx, () => {
      if (turn.isUnhealthy) this.logger.warn(about, 'A connector is unhealthy');
      else this.logger.log(about, 'A connector is healthy again');
    });
  }
}

/** Shows the results of the last checks of all replicas in `/health/detailed` and the metrics. */
@Injectable()
export class ConnectorSignals implements OnModuleInit {
  constructor(
    private readonly connectors: ConnectorsRepository,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.components.register('connectors', () => this.health());
    this.gauges.register('connector_up', async () => {
      const { serving } = servingOf(await this.connectors.all());
      const checked = serving.filter(({ health }) => health);
      return checked.map(({ name, health }) => [{ connector: name }, +(health !== 'unhealthy')]);
    });
  }

  private async health(): Promise<ComponentHealth> {
    const { serving, isStandingBy } = servingOf(await this.connectors.all());
    const total = serving.length;
    if (total === 0) {
      const message = isStandingBy
        ? 'No enabled connector provides actions: the sandbox stands by while a connector of another type exists.'
        : 'No connector is enabled.';
      return { status: 'disabled', message, total };
    }
    const down = serving.filter(({ health }) => health === 'unhealthy').map(({ name }) => name);
    if (down.length === 0) return { status: 'healthy', total };
    const message = `${down.length} of ${total} connectors ${down.length === 1 ? 'does' : 'do'} not answer.`;
    return { status: 'degraded', message, total, unhealthy: down };
  }
}
