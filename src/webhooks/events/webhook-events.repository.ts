// SQL: a list is one statement with its exact total. One event is TypeORM's.
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, getMetadataArgsStorage } from 'typeorm';
import {
  type Choice,
  type Direction,
  StatementValues,
  type WithTotal,
  byId,
  choiceOf,
  countOf,
  isChosen,
  listStatement,
  pageOf,
  where,
} from '../../platform/counting/counted-list.sql.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Page } from '../../platform/paging/page.js';
import {
  UNSETTLED,
  type UnsettledStatus,
  WEBHOOK_EVENT_STATUSES,
  type WebhookEvent,
  type WebhookEventListRequest,
  type WebhookEventWithBody,
} from './webhook-event.js';
import { WebhookEventEntity } from './webhook-event.entity.js';

const NOT_LISTED = ['body', 'body_hash', 'progress'] as const;
type Row = Omit<WebhookEventEntity, (typeof NOT_LISTED)[number]> & {
  /** Absent where the row has all ids. */
  readonly incident_count?: number;
};

/** Maximum number of incident ids of an event in a list. A body may have 80 000 events. */
const MOST_LISTED_IDS = 100;

const COLUMNS = getMetadataArgsStorage()
  .columns.filter(({ target }) => target === WebhookEventEntity)
  .map(({ propertyName }) => propertyName)
  .filter((name) => !NOT_LISTED.some((other) => other === name))
  .map((name) =>
    name === 'incident_ids'
      ? `incident_ids[:${MOST_LISTED_IDS}] as incident_ids, cardinality(incident_ids) as incident_count`
      : name,
  )
  .join(', ');

const UNSETTLED_TOTALS = UNSETTLED.map((status) => {
  const conditions = [`status = '${status}'`];
  const n = countOf('webhook_event', conditions);
  return `${n}::int as ${status}`;
});
const COUNT_UNSETTLED: Statement = {
  name: 'webhook_events_count_unsettled',
  text: `select ${UNSETTLED_TOTALS.join(', ')}`,
};

/** Reads receipts for analysts, and keeps the totals of their list. */
@Injectable()
export class WebhookEventsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  async list(request: WebhookEventListRequest): Promise<Page<WebhookEvent>> {
    const { text, values } = listQuery(request, COLUMNS);
    const rows = await this.statements.rows<Row & WithTotal>({ name: '', text }, [...values]);
    return pageOf(rows, eventOf);
  }

  /** Returns the event with its body, if it has one. */
  async findById(
    id: string,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<WebhookEventWithBody | undefined> {
    const row = await manager
      .getRepository(WebhookEventEntity)
      .createQueryBuilder('event')
      .addSelect('event.body')
      .where({ id })
      .getOne();
    if (!row) return undefined;
    const event = eventOf(row);
    return { ...event, body: row.body ?? undefined };
  }

  /** Counts by the stored sums, so that a scrape costs the same for any number of events. */
  async countUnsettled(): Promise<Readonly<Record<UnsettledStatus, number>>> {
    const [row] = await this.statements.rows<Record<UnsettledStatus, number>>(COUNT_UNSETTLED, []);
    return row!;
  }
}

function eventOf(row: Row): WebhookEvent {
  return {
    id: row.id,
    source: row.source,
    status: row.status,
    incidentIds: row.incident_ids,
    incidentCount: row.incident_count ?? row.incident_ids.length,
    duplicateOf: row.duplicate_of ?? undefined,
    error: row.error ?? undefined,
    attempts: row.attempts,
    receivedAt: row.received_at,
    processedAt: row.processed_at ?? undefined,
  };
}

interface ListQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * One statement that yields a page and the exact total: see listStatement. Ids begin with the time of receipt, so the list
 * by time is the order of ids. A page past the end reads no events: the total tells that there are none.
 */
export function listQuery(request: WebhookEventListRequest, columns: string): ListQuery {
  const { filter, descending, page, per_page } = request;
  const values = new StatementValues();
  const sources = choiceOf(filter.sources, 'text', values);
  const statuses = choiceOf(filter.statuses, 'text', values, WEBHOOK_EVENT_STATUSES.length);
  const conditions = [
    ...(sources ? [isChosen('source', sources)] : []),
    ...(statuses ? [isChosen('status', statuses)] : []),
  ];
  const direction = descending ? 'desc' : 'asc';
  const offset = (page - 1) * per_page;
  const skipped = values.add(offset, 'bigint');
  const candidates = rangesOf(sources, statuses).map((range) =>
    firstIdsOf(range, direction, offset + per_page),
  );
  const text = listStatement({
    total: countOf('webhook_event', conditions),
    ids: `
    select id from (${candidates.join(' union all ')}) as candidate
     where (select total from total) > ${skipped}
     order by id ${direction} offset ${skipped} limit ${per_page}`,
    columns,
    table: 'webhook_events',
    order: byId(direction),
  });
  return { text, values: values.all };
}

/** What events are counted by, and what their indexes begin with. */
type Dimension = 'source' | 'status';

/** A part of an index in which each dimension has one value, so that it is in the order of ids. */
type Range = readonly (readonly [column: Dimension, value: string])[];

const EACH_STATUS = WEBHOOK_EVENT_STATUSES.map((status) => `'${status}'`);

/** All events, those of each status, or those of each source in each status. */
function rangesOf(sources: Choice | undefined, statuses: Choice | undefined): Range[] {
  if (!sources && !statuses) return [[]];
  const ofStatus = (statuses?.each ?? EACH_STATUS).map((value): Range => [['status', value]]);
  if (!sources) return ofStatus;
  return sources.each.flatMap((source) =>
    ofStatus.map((status): Range => [['source', source], ...status]),
  );
}

/**
 * The beginning of a range. The order names the whole index, and the condition is `between` so that PostgreSQL does not
 * see that it could leave these columns out. Otherwise it may walk along the primary key instead, in search of events
 * that it believes to be frequent, and read half the table when they have become rare. `bound` is a number in the text,
 * because the planner must know that few rows are wanted.
 */
function firstIdsOf(range: Range, direction: Direction, bound: number): string {
  const conditions = range.map(([column, value]) => `${column} between ${value} and ${value}`);
  const order = [...range.map(([column]) => column), 'id'].map((name) => `${name} ${direction}`);
  return `(select id from webhook_events${where(conditions)} order by ${order.join(', ')} limit ${bound})`;
}
