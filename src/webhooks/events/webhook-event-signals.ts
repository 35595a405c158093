import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter, Gauge } from 'prom-client';
import { HealthComponents } from '../../platform/health-components.js';
import { beginAtZero } from '../../platform/metrics/known-series.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { RECEIPT_REFUSALS } from '../receipt/receipt.errors.js';
import { SourceDirectory } from '../sources/source-directory.js';
import { UNSETTLED } from './webhook-event.js';
import { WebhookEventsRepository } from './webhook-events.repository.js';

const ERRORS = [...RECEIPT_REFUSALS, 'internal_error'];

/** Shows in health and metrics how many events wait for a worker, and how many for a person. */
@Injectable()
export class WebhookEventSignals implements OnModuleInit {
  constructor(
    private readonly events: WebhookEventsRepository,
    private readonly sources: SourceDirectory,
    private readonly components: HealthComponents,
    @InjectMetric('webhook_received_total') private readonly received: Counter<'source'>,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
    @InjectMetric('webhook_events') private readonly unsettled: Gauge<'status'>,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    beginAtZero(this.errors, { source: ['other'], code: ERRORS });
    this.gauges.registerSeries(this.received, async () => {
      beginAtZero(this.received, { source: await this.sources.enabledNames() });
    });
    this.gauges.registerSeries(this.errors, async () => {
      beginAtZero(this.errors, { source: await this.sources.enabledNames(), code: ERRORS });
    });
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
