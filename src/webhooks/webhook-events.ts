// SQL: one statement returns a page of a list and its exact total. PostgreSQL must be able to use index ranges.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { OmitType } from '@nestjs/swagger';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { isUtf8 } from 'node:buffer';
import { Counter } from 'prom-client';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { BY_ID, countedList, countOf, readPage } from '../platform/counting/counted-list.js';
import { columnsOf } from '../platform/database/columns.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { NotFoundError } from '../platform/errors/app-error.js';
import type { ErrorCode } from '../platform/errors/error-catalogue.js';
import { HealthComponents } from '../platform/health-components.js';
import { isUuid } from '../platform/ids.js';
import { beginAtZero } from '../platform/metrics/metrics.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';
import { type Page, PageQueryDto, sortWords } from '../platform/paging/page.js';
import { Choice, Id, Instant, Text, Texts, WholeNumber } from '../platform/validation/fields.js';
import { present } from '../platform/validation/present.js';
import { WordList, Words } from '../platform/validation/query-fields.js';
import { SOURCE_NAME } from './sources/webhook-source.entity.js';
import { WebhookSourcesService } from './sources/webhook-sources.service.js';

export const WEBHOOK_EVENT_STATUSES = [
  'queued',
  'processed',
  'duplicate',
  'updated',
  'failed',
] as const;
export type WebhookEventStatus = (typeof WEBHOOK_EVENT_STATUSES)[number];

const UNSETTLED = ['queued', 'failed'] as const satisfies readonly WebhookEventStatus[];

@Entity('webhook_events')
export class WebhookEventEntity {
  @Id('WebhookEventId', { description: 'Also the `queue_id` of a queued delivery.' })
  @PrimaryColumn({ type: 'uuid' })
  readonly id: string;

  @Text({ example: 'email-gateway' })
  @Column({ type: 'text', collation: 'C' })
  readonly source: string;

  @Choice('WebhookEventStatus', WEBHOOK_EVENT_STATUSES, {
    description:
      'queued: a worker reads it later. processed: it created incidents. duplicate: it repeats an event and created nothing. updated: it changed the incident of an earlier event. failed: it could not be read or stored.',
    example: 'processed',
  })
  @Column({ type: 'text', collation: 'C' })
  readonly status: WebhookEventStatus;

  /** Exact bytes. Null for a duplicate whose bytes equal those of `duplicate_of`. */
  @Column({ type: 'bytea', nullable: true })
  readonly body: Buffer | null;

  @Column({ type: 'bytea' })
  readonly body_hash: Buffer;

  @Column({ type: 'uuid', array: true, default: [] })
  readonly incident_ids: readonly string[];

  @Id('WebhookEventId', {
    optional: true,
    description: 'Event with the same bytes, otherwise the first event with the same id.',
    example: undefined,
  })
  @Column({ type: 'uuid', nullable: true })
  readonly duplicate_of: string | null;

  @Text({ optional: true, description: 'Reason of the failure.' })
  @Column({ type: 'text', nullable: true })
  readonly error: string | null;

  @WholeNumber({ min: 0, description: 'Number of attempts to read the event.', example: 1 })
  @Column({ type: 'integer', default: 0 })
  readonly attempts: number;

  @Instant({ example: '2026-01-31T09:30:00.000Z' })
  @Column({ type: 'timestamptz', precision: 3 })
  readonly received_at: Date;

  @Instant({ optional: true, description: 'Absent while the event is queued.' })
  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly processed_at: Date | null;
}

const NOT_LISTED = ['body', 'body_hash'] as const;

/** A list contains only the first incident ids. */
type ListedEvent = Omit<WebhookEventEntity, (typeof NOT_LISTED)[number]> & {
  readonly incident_count?: number;
};

export class WebhookEventSummaryDto extends OmitType(WebhookEventEntity, [
  ...NOT_LISTED,
  'incident_ids',
]) {
  @Id('IncidentId', {
    optional: true,
    description: 'First incident that the event, or the event that it repeats, created or updated.',
    example: undefined,
  })
  readonly incident_id?: string;

  @Texts({
    optional: true,
    description: 'All incidents, if there are several. A list shows the first 100.',
    contract: { type: 'array', items: { title: 'IncidentId', type: 'string', format: 'uuid' } },
  })
  readonly incident_ids?: readonly string[];

  @WholeNumber({ optional: true, min: 2, description: 'Number of all incidents.', example: 2 })
  readonly incident_count?: number;
}

export class WebhookEventDto extends WebhookEventSummaryDto {
  @Text({ optional: true, description: 'Absent if `duplicate_of` has the same bytes.' })
  readonly body?: string;

  @Choice('WebhookBodyEncoding', ['utf8', 'base64'], {
    optional: true,
    description: 'base64 if the bytes of the body are not UTF-8.',
  })
  readonly body_encoding?: 'utf8' | 'base64';
}

export const shownSummary = (event: ListedEvent): WebhookEventSummaryDto =>
  present(WebhookEventSummaryDto)({ ...event, ...incidentsOf(event) });

export function shownEvent({ body, ...event }: WebhookEventEntity): WebhookEventDto {
  const body_encoding = body && isUtf8(body) ? ('utf8' as const) : ('base64' as const);
  const shown = body && { body: body.toString(body_encoding), body_encoding };
  return present(WebhookEventDto)({ ...event, ...incidentsOf(event), ...shown });
}

function incidentsOf({ incident_ids, incident_count = incident_ids.length }: ListedEvent) {
  const several = incident_count > 1 ? { incident_ids, incident_count } : { incident_ids: null };
  return { incident_id: incident_ids[0], incident_count: null, ...several };
}

const SORTS = sortWords('created_at');

export class WebhookEventQueryDto extends PageQueryDto {
  @WordList(
    { word: SOURCE_NAME, what: 'the name of a source' },
    {
      optional: true,
      description: 'One source, or several separated by commas.',
      example: ['email-gateway'],
    },
  )
  readonly source?: readonly string[];

  @Words('WebhookEventStatus', WEBHOOK_EVENT_STATUSES, {
    optional: true,
    example: ['queued', 'failed'],
  })
  readonly status?: readonly WebhookEventStatus[];

  @Choice('WebhookEventSort', SORTS, {
    optional: true,
    default: '-created_at',
    description: 'By the time of receipt. A `-` reverses the order.',
    example: 'created_at',
  })
  readonly sort: (typeof SORTS)[number] = '-created_at';
}

@Entity('webhook_seen_events')
export class WebhookSeenEventEntity {
  @PrimaryColumn({ type: 'text', collation: 'C' })
  readonly source: string;

  /** SHA-256 of the sender's event id. */
  @PrimaryColumn({ type: 'bytea' })
  readonly event_key: Buffer;

  /** SHA-256 of each different content that was received for the event id, the first content first. */
  @Column({ type: 'bytea', array: true })
  readonly content_hashes: readonly Buffer[];

  @Column({ type: 'uuid' })
  readonly event_id: string;

  @Column({ type: 'uuid' })
  readonly incident_id: string;
}

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

/** Reads stored sums, so that the cost does not depend on the number of events. */
const COUNT_UNSETTLED: Statement = {
  name: 'webhook_events_count_unsettled',
  text: `select ${UNSETTLED.map((status) => `${countOf('webhook_event', [`status = '${status}'`])}::int as ${status}`).join(', ')}`,
};

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

  /** Locks the event until the end of the transaction. */
  async get(id: string, tx?: Tx): Promise<WebhookEventEntity> {
    const options = { where: { id }, lock: tx && ({ mode: 'pessimistic_write' } as const) };
    const manager = tx ?? this.dataSource.manager;
    const event = isUuid(id) && (await manager.findOne(WebhookEventEntity, options));
    if (!event) throw new NotFoundError('Webhook event');
    return event;
  }

  private async countUnsettled(): Promise<Readonly<Record<(typeof UNSETTLED)[number], number>>> {
    return (await this.statements.rows<{ queued: number; failed: number }>(COUNT_UNSETTLED))[0]!;
  }
}
