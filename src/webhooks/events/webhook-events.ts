// SQL: one statement returns a page of a list and its exact total. PostgreSQL must be able to use index ranges.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { DataSource, type EntityManager } from 'typeorm';
import { BY_ID, countedList, countOf, readPage } from '../../platform/counting/counted-list.js';
import { columnsOf } from '../../platform/database/columns.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import type { ErrorCode } from '../../platform/errors/error-catalogue.js';
import { HealthComponents } from '../../platform/health-components.js';
import { isUuid } from '../../platform/ids.js';
import { beginAtZero } from '../../platform/metrics/metrics.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import type { Page } from '../../platform/paging/page.js';
import { WebhookSourcesService } from '../sources/webhook-sources.service.js';
import {
  type ListedEvent,
  NOT_LISTED,
  UNSETTLED,
  WebhookEventEntity,
  type WebhookEventQueryDto,
} from './webhook-event.js';

/** Maximum number of incident ids of an event in a list. A body may have 80 000 events. */
const MOST_LISTED_IDS = 100;

export const eventList = countedList({
  table: 'webhook_events',
  columns: [
    ...columnsOf(WebhookEventEntity, [...NOT_LISTED, 'incident_ids']),
    `incident_ids[:${MOST_LISTED_IDS}] as incident_ids`,
    'cardinality(incident_ids) as incident_count',
  ].join(', '),
  counts: 'webhook_event',
  counted: {
    source: { filter: 'source', type: 'text', with: 'status' },
    status: { filter: 'status', type: 'text' },
  },
  sorts: { created_at: BY_ID },
});

const COUNT_UNSETTLED: Statement = {
  name: 'webhook_events_count_unsettled',
  text: `select ${UNSETTLED.map((status) => `${countOf('webhook_event', [`status = '${status}'`])}::int as ${status}`).join(', ')}`,
};
type UnsettledCounts = Readonly<Record<(typeof UNSETTLED)[number], number>>;

export const RECEIPT_REFUSALS = [
  'unknown_source',
  'payload_too_large',
  'invalid_signature',
  'timestamp_expired',
  'rate_limited',
  'bad_request',
  'validation_error',
  'service_unavailable',
] as const satisfies ErrorCode[];

const ERRORS = [...RECEIPT_REFUSALS, 'internal_error'];

@Injectable()
export class WebhookEvents implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
    private readonly sources: WebhookSourcesService,
    private readonly components: HealthComponents,
    @InjectMetric('webhook_received_total') private readonly received: Counter<'source'>,
    @InjectMetric('webhook_errors_total') private readonly errors: Counter<'source' | 'code'>,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    const beginSeries = async () => {
      const source = await this.sources.enabledNames();
      beginAtZero(this.received, { source });
      beginAtZero(this.errors, { source: ['other', ...source], code: ERRORS });
    };
    for (const counter of [this.received, this.errors]) {
      this.gauges.registerSeries(counter, beginSeries);
    }
    this.gauges.register('webhook_events', async () => {
      const counts = await this.countUnsettled();
      return UNSETTLED.map((status) => [{ status }, counts[status]] as const);
    });
    this.components.addDetails('jobs', async () => {
      const { queued, failed } = await this.countUnsettled();
      return { webhook_events_queued: queued, webhook_events_failed: failed };
    });
  }

  async list(request: WebhookEventQueryDto): Promise<Page<ListedEvent>> {
    return await readPage(this.statements, eventList(request));
  }

  async get(
    id: string,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<WebhookEventEntity> {
    const event = isUuid(id) && (await manager.findOneBy(WebhookEventEntity, { id }));
    if (!event) throw new NotFoundError('Webhook event');
    return event;
  }

  /** Reads stored sums, so that the cost does not depend on the number of events. */
  private async countUnsettled(): Promise<UnsettledCounts> {
    return (await this.statements.rows<UnsettledCounts>(COUNT_UNSETTLED))[0]!;
  }
}
