import { Injectable, type OnModuleInit } from '@nestjs/common';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { isUuid } from '../../platform/ids.js';
import type { Page } from '../../platform/paging/page.js';
import {
  UNSETTLED,
  type WebhookEvent,
  type WebhookEventListRequest,
  type WebhookEventWithBody,
} from './webhook-event.js';
import { WebhookEventsRepository } from './webhook-events.repository.js';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { HealthComponents } from '../../platform/health-components.js';
import { beginAtZero } from '../../platform/metrics/metrics.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { RECEIPT_REFUSALS } from '../webhook.errors.js';
import { SourceDirectory } from '../sources/source-directory.js';

@Injectable()
export class WebhookEventsService {
  constructor(private readonly repository: WebhookEventsRepository) {}

  list(request: WebhookEventListRequest): Promise<Page<WebhookEvent>> {
    return this.repository.list(request);
  }

  /** A malformed id is answered like an unknown id. */
  async get(id: string): Promise<WebhookEventWithBody> {
    const event = isUuid(id) ? await this.repository.findById(id) : undefined;
    if (!event) throw new NotFoundError('Webhook event');
    return event;
  }
}

const ERRORS = [...RECEIPT_REFUSALS, 'internal_error'];

/** Reports the numbers of queued and failed events in health and metrics. */
@Injectable()
export class WebhookEventSignals implements OnModuleInit {
  constructor(
    private readonly events: WebhookEventsRepository,
    private readonly sources: SourceDirectory,
    private readonly components: HealthComponents,
    @InjectMetric('webhook_received_total') private readonly received: Counter<'source'>,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
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
    this.gauges.register('webhook_events', async () => {
      const counts = await this.events.countUnsettled();
      return UNSETTLED.map((status) => [{ status }, counts[status]] as const);
    });
    // A queued event may have lost its job, so the number of jobs does not show all queued events.
    this.components.addDetails('jobs', async () => {
      const { queued, failed } = await this.events.countUnsettled();
      return { webhook_events_queued: queued, webhook_events_failed: failed };
    });
  }
}
