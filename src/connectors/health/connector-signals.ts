import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { within } from '../../platform/concurrency/within.js';
import { type ComponentHealth, HealthComponents } from '../../platform/health-components.js';
import { statusOf } from '../connector.js';
import { ConnectorsRepository } from '../connectors.repository.js';

/** So long does a scrape of the metrics wait for the database. */
const PATIENCE_MS = 800;

/** Shows in `/health/detailed` and in the metrics how the connectors are, by the last checks of whichever replica. */
@Injectable()
export class ConnectorSignals implements OnModuleInit, OnModuleDestroy {
  private readonly collector = { collect: () => this.collect() };

  constructor(
    private readonly connectors: ConnectorsRepository,
    private readonly components: HealthComponents,
    @InjectMetric('connector_up') private readonly connectorUp: Gauge<'connector'>,
  ) {}

  onModuleInit(): void {
    this.components.register('connectors', () => this.health());
    Object.assign(this.connectorUp, this.collector);
  }

  onModuleDestroy(): void {
    const gauge: Partial<typeof this.collector> = this.connectorUp as object;
    if (gauge.collect === this.collector.collect) delete gauge.collect;
  }

  private async health(): Promise<ComponentHealth> {
    const enabled = (await this.connectors.all()).filter((one) => one.enabled);
    if (enabled.length === 0) {
      return { status: 'disabled', message: 'No connector is enabled.', total: 0 };
    }
    const total = enabled.length;
    const down = enabled.filter((one) => statusOf(one) === 'unhealthy').map(({ name }) => name);
    if (down.length === 0) return { status: 'healthy', total };
    const message = `${down.length} of ${total} connectors ${down.length === 1 ? 'does' : 'do'} not answer.`;
    return { status: 'degraded', message, total, unhealthy: down };
  }

  /** When the database does not answer, no connector is shown, and the other metrics are shown all the same. */
  private async collect(): Promise<void> {
    const read = this.connectors.all().catch(() => []);
    const rows = await within(PATIENCE_MS, read, () => []);
    this.connectorUp.reset();
    for (const { name, enabled, health } of rows) {
      if (!enabled || !health) continue;
      this.connectorUp.set({ connector: name }, health === 'unhealthy' ? 0 : 1);
    }
  }
}
