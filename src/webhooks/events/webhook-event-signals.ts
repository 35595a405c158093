import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { HealthComponents } from '../../platform/health-components.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { UNSETTLED } from './webhook-event.js';
import { WebhookEventsRepository } from './webhook-events.repository.js';

/** Shows in health and metrics how many events wait for a worker, and how many for a person. */
@Injectable()
export class WebhookEventSignals implements OnModuleInit {
  constructor(
    private readonly events: WebhookEventsRepository,
    private readonly components: HealthComponents,
    @InjectMetric('webhook_events') private readonly unsettled: Gauge<'status'>,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    this.gauges.register(this.unsettled, async () => {
      const counts = await this.events.countUnsettled();
      return UNSETTLED.map((status) => [{ status }, counts[status]] as const);
    });
    // A job may be missing for an event that waits, so the jobs alone do not tell.
    this.components.addDetails('jobs', async () => {
      const { queued, failed } = await this.events.countUnsettled();
      return { webhook_events_queued: queued, webhook_events_failed: failed };
    });
  }
}
