import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { type ComponentHealth, HealthComponents } from '../../platform/health-components.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { statusOf } from '../connector.js';
import { ConnectorsRepository } from '../connectors.repository.js';

/** Shows in `/health/detailed` and in the metrics how the connectors are, by the last checks of whichever replica. */
@Injectable()
export class ConnectorSignals implements OnModuleInit {
  constructor(
    private readonly connectors: ConnectorsRepository,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
    @InjectMetric('connector_up') private readonly connectorUp: Gauge<'connector'>,
  ) {}

  onModuleInit(): void {
    this.components.register('connectors', () => this.health());
    this.gauges.register(this.connectorUp, async () => {
      const checked = (await this.connectors.all()).filter(
        ({ enabled, health }) => enabled && health,
      );
      return checked.map(({ name, health }) => [
        { connector: name },
        health === 'unhealthy' ? 0 : 1,
      ]);
    });
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
}
