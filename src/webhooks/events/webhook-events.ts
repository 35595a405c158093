// SQL: a list is one statement with its exact total, whose text PostgreSQL must be able to plan as index ranges.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Counter } from 'prom-client';
import { DataSource, type EntityManager } from 'typeorm';
import {
  byId,
  choiceOf,
  countOf,
  type Direction,
  isChosen,
  listStatement,
  pageOf,
  StatementValues,
  where,
  type WithTotal,
} from '../../platform/counting/counted-list.sql.js';
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
  WEBHOOK_EVENT_STATUSES,
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

/** One statement for a page and the exact total: see listStatement. A page past the end reads no events. */
export function listQuery({ page, per_page, sort, ...filter }: WebhookEventQueryDto) {
  const values = new StatementValues();
  const source = choiceOf(filter.source, 'text', values);
  const status = choiceOf(filter.status, 'text', values, WEBHOOK_EVENT_STATUSES.length);
  const chosen = Object.entries({ source, status }).flatMap(([column, choice]) =>
    choice ? [isChosen(column, choice)] : [],
  );
  const direction = sort === 'created_at' ? 'asc' : 'desc';
  const offset = (page - 1) * per_page;
  const skipped = values.add(offset, 'bigint');
  const each = status?.each ?? WEBHOOK_EVENT_STATUSES.map((value) => `'${value}'`);
  const bySource = source?.each.flatMap((value) =>
    each.map((one) => ({ source: value, status: one })),
  );
  const ranges = bySource ?? (status ? each.map((one) => ({ status: one })) : [{}]);
  const candidates = ranges.map((range) => firstIdsOf(range, direction, offset + per_page));
  const text = listStatement({
    total: countOf('webhook_event', chosen),
    ids: `
    select id from (${candidates.join(' union all ')}) as candidate
     where (select total from total) > ${skipped}
     order by id ${direction} offset ${skipped} limit ${per_page}`,
    columns: COLUMNS,
    table: 'webhook_events',
    order: byId(direction),
  });
  return { text, values: values.all };
}

/**
 * Selects the first ids of a section of an index. `order by` names all columns of the index, and the condition is `between`, so that
 * PostgreSQL cannot scan the primary key for events that it estimates to be frequent.
 */
function firstIdsOf(range: object, direction: Direction, bound: number): string {
  const columns = Object.entries(range).map(
    ([name, value]) => `${name} between ${value} and ${value}`,
  );
  const order = [...Object.keys(range), 'id'].map((name) => `${name} ${direction}`);
  return `(select id from webhook_events${where(columns)} order by ${order.join(', ')} limit ${bound})`;
}

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
    const { text, values } = listQuery(request);
    const rows = await this.statements.rows<ListedEvent & WithTotal>({ name: '', text }, values);
    return pageOf(rows, (row) => row);
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
