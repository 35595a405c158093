// SQL: a list is one statement with its exact total, whose text PostgreSQL must be able to plan as index ranges.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { DataSource, type EntityManager } from 'typeorm';
import { BY_ID, countedList, countOf, readPage } from '../../platform/counting/counted-list.js';
import { columnsOf } from '../../platform/database/columns.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { NotFoundError } from '../../platform/errors/app-error.js';
import { HealthComponents } from '../../platform/health-components.js';
import { isUuid } from '../../platform/ids.js';
import { beginAtZero } from '../../platform/metrics/metrics.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import type { Page } from '../../platform/paging/page.js';
import { SourceDirectory } from '../sources/source-directory.js';
import { RECEIPT_REFUSALS } from '../receipt/receipt.js';
import {
  type ListedEvent,
  NOT_LISTED,
  UNSETTLED,
  WebhookEventEntity,
} from './webhook-event.entity.js';
import type { WebhookEventQueryDto } from './webhook-events.dto.js';

/** Maximum number of incident ids of an event in a list. A body may have 80 000 events. */
const MOST_LISTED_IDS = 100;

const COLUMNS = [
  ...columnsOf(WebhookEventEntity, [...NOT_LISTED, 'incident_ids']),
  `incident_ids[:${MOST_LISTED_IDS}] as incident_ids`,
  'cardinality(incident_ids) as incident_count',
].join(', ');

export const eventList = countedList({
  table: 'webhook_events',
  columns: COLUMNS,
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

@Injectable()
export class WebhookEvents {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

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
  async countUnsettled(): Promise<UnsettledCounts> {
    return (await this.statements.rows<UnsettledCounts>(COUNT_UNSETTLED))[0]!;
  }
}

const ERRORS = [...RECEIPT_REFUSALS, 'internal_error'];

@Injectable()
export class WebhookEventSignals implements OnModuleInit {
  constructor(
    private readonly events: WebhookEvents,
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
    this.components.addDetails('jobs', async () => {
      const { queued, failed } = await this.events.countUnsettled();
      return { webhook_events_queued: queued, webhook_events_failed: failed };
    });
  }
}
