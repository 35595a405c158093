import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { Clock } from '../platform/clock.js';
import { Semaphore } from '../platform/concurrency/semaphore.js';
import { Settings } from '../platform/config/settings.js';
import {
  afterCommit,
  type Participant,
  Transactions,
  type Tx,
} from '../platform/database/transactions.js';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import type { Caller } from '../platform/http/request.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import { DomainEvents } from '../platform/work/domain-events.js';
import { Work } from '../platform/work/work.js';
import { TargetsService } from '../targets/targets-service.js';
import { SECRETS_LOST } from '../targets/target-rows.js';
import { Targets } from '../platform/net/targets.js';
import { shownMessage } from './calls/vendor-answers.js';
import {
  CONNECTOR_TYPES,
  ConnectorEntity,
  ConnectorRegistry,
  DEFAULT_PRIORITY,
  servingOf,
} from './connector-registry.js';
import type { TargetTest } from '../targets/target-contract.js';
import type { ConnectorInputDto, ConnectorUpdateDto } from './connectors.dto.js';

const PERIOD_SECONDS = 60;
const AT_ONCE = 4;
const SLOW_MS = 3_000;
const NOT_CHECKED_YET = {
  health: null,
  health_message: null,
  latency_ms: null,
  last_checked_at: null,
};

@Injectable()
export class ConnectorsService
  extends TargetsService<ConnectorEntity, ConnectorInputDto, ConnectorUpdateDto>
  implements OnModuleInit, OnApplicationBootstrap
{
  protected readonly types = CONNECTOR_TYPES;
  protected readonly audited = ['priority'] as const;
  private readonly logger = new Logger(ConnectorsService.name);

  constructor(
    readonly rows: ConnectorRegistry,
    protected readonly targets: Targets,
    protected readonly transactions: Transactions,
    protected readonly audit: AuditLog,
    private readonly settings: Settings,
    private readonly events: DomainEvents,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
  ) {
    super();
  }

  onModuleInit(): void {
    this.work.every('check-connectors', PERIOD_SECONDS, () => this.checkAll());
    this.components.register('connectors', () => this.health());
    this.gauges.register('connector_up', async () => {
      const checked = servingOf(await this.rows.all()).filter(({ health }) => health);
      return checked.map(({ name, health }) => [{ connector: name }, +(health !== 'unhealthy')]);
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    // With an external database, operators create their connectors.
    if (this.settings.databaseUrl === undefined) await this.createFirstSandbox();
  }

  async createFirstSandbox(): Promise<void> {
    const hasOne = await this.transactions.run((tx) => tx.getRepository(ConnectorEntity).exists());
    if (!hasOne)
      await this.create({ name: 'system' }, { name: 'sandbox', type: 'sandbox', config: {} });
  }

  async create(
    caller: Pick<Caller, 'name'> & Participant,
    { enabled = true, priority = DEFAULT_PRIORITY, ...input }: ConnectorInputDto,
    idempotency: Participant = {},
  ): Promise<ConnectorEntity> {
    return await this.insert(caller, { ...input, enabled, priority }, idempotency);
  }

  async checkAll(): Promise<void> {
    const now = this.clock.now().getTime();
    const due = (await this.rows.all()).filter(({ enabled, type, last_checked_at: last }) => {
      const everyMs = CONNECTOR_TYPES.find(type)?.checkedEveryMs ?? 0;
      return enabled && (!last || now - last.getTime() >= everyMs);
    });
    const places = new Semaphore(AT_ONCE);
    await Promise.all(due.map((row) => places.run(() => this.check(row))));
  }

  protected plan(before: ConnectorEntity, change: ConnectorUpdateDto) {
    const { config, priority = before.priority } = change;
    return { config, columns: { priority, ...(config && NOT_CHECKED_YET) } };
  }

  protected async attempt(row: ConnectorEntity) {
    const result = await this.rows.connectorOf(row).test();
    return { ...result, message: shownMessage(result.message) };
  }

  private async check(row: ConnectorEntity): Promise<void> {
    try {
      const result = await this.tested(row);
      await this.transactions.run((tx) => this.storeTest(tx, row, result));
    } catch (err) {
      this.logger.error({ err, connector: row.name }, 'A connector could not be checked');
    }
  }

  protected async storeTest(
    tx: Tx,
    { id, version }: ConnectorEntity,
    result: TargetTest,
  ): Promise<void> {
    const row = await this.rows.row(id, tx);
    // The connector was changed or deleted during the check, so the result no longer applies.
    if (row?.version !== version) return;
    const { name, type, enabled, unhealthy_reported_at: since } = row;
    // The health must still show that the secrets are lost, even if a test without secrets succeeds.
    if (!enabled && row.health_message === SECRETS_LOST) return;
    const { success, message, latency_ms } = result;
    // Compares with the last reported change of health, because a connector with a new configuration has no last check.
    const isTurn = enabled && success === (since !== null);
    await tx.getRepository(ConnectorEntity).update(id, {
      health: !success ? 'unhealthy' : latency_ms > SLOW_MS ? 'degraded' : 'healthy',
      health_message: message,
      latency_ms,
      last_checked_at: () => 'now()',
      ...(isTurn && { unhealthy_reported_at: success ? null : () => 'now()' }),
    });
    if (!isTurn) return;
    await this.events.record(tx, {
      type: success ? 'connector.recovered' : 'connector.unhealthy',
      subject: { type: 'connector', id },
      payload: { name, type, message, unhealthy_since: since?.toISOString() },
    });
    const about = { connector: name, type, reason: message };
    afterCommit(tx, () => {
      if (success) this.logger.log(about, 'A connector is healthy again');
      else this.logger.warn(about, 'A connector is unhealthy');
    });
  }

  private async health(): Promise<ComponentHealth> {
    const serving = servingOf(await this.rows.all());
    const total = serving.length;
    if (total === 0) {
      return { status: 'disabled', message: 'No enabled connector provides actions.', total };
    }
    const down = serving.filter(({ health }) => health === 'unhealthy').map(({ name }) => name);
    if (down.length === 0) return { status: 'healthy', total };
    const message = `${down.length} of ${total} connectors ${down.length === 1 ? 'does' : 'do'} not answer.`;
    return { status: 'degraded', message, total, unhealthy: down };
  }
}
