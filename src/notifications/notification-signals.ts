import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { type ComponentHealth, HealthComponents } from '../platform/health-components.js';
import { beginAtZero } from '../platform/metrics/metrics.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import { CHANNEL_TYPES } from './channel-types.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import { channelStatusOf } from './notification-channel.entity.js';
import { NotificationChannelsRepository } from './notification-channels.repository.js';

const OUTCOMES = ['delivered', 'failed', 'refused'] as const;

/** State of the channels in `/health/detailed` and in the metrics. */
@Injectable()
export class NotificationSignals implements OnModuleInit {
  constructor(
    private readonly channels: NotificationChannelsRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly components: HealthComponents,
    private readonly gauges: ScrapedGauges,
    @InjectMetric('notification_attempts_total')
    private readonly attempts: Counter<'type' | 'outcome'>,
    @InjectMetric('notification_deliveries_dead_total') private readonly dead: Counter<'type'>,
  ) {}

  onModuleInit(): void {
    beginAtZero(this.attempts, { type: CHANNEL_TYPES.names, outcome: OUTCOMES });
    beginAtZero(this.dead, { type: CHANNEL_TYPES.names });
    this.components.register('notifications', () => this.health());
    this.gauges.register('notifications_waiting', () => this.deliveries.waiting());
    this.gauges.register('notification_channel_up', async () => {
      const enabled = await this.channels.enabled();
      return enabled.map(({ name, unhealthy_since }) => [
        { channel: name },
        unhealthy_since ? 0 : 1,
      ]);
    });
  }

  private async health(): Promise<ComponentHealth> {
    const enabled = await this.channels.enabled();
    const total = enabled.length;
    if (total === 0) return { status: 'disabled', message: 'No channel is enabled.', total };
    const waiting = await this.deliveries.waiting();
    const { degraded, unhealthy } = Object.groupBy(enabled, channelStatusOf);
    const [failing, broken] = [degraded, unhealthy].map((some) => some?.map(({ name }) => name));
    const details = {
      total,
      waiting,
      ...(failing && { failing }),
      ...(broken && { unhealthy: broken }),
    };
    if (!failing && !broken) return { status: 'healthy', ...details };
    const message = broken
      ? `${broken.length} of ${total} channels ${broken.length === 1 ? 'has' : 'have'} failed for more than ten minutes.`
      : `The last attempt failed for ${failing!.length} of ${total} channels.`;
    return { status: 'degraded', message, ...details };
  }
}
