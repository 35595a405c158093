// SQL: a list is one statement with its exact total, and the fold is one over all deltas. One event is TypeORM's.
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, getMetadataArgsStorage } from 'typeorm';
import { exactTotal, pageOf, type WithTotal } from '../../platform/counting/counted-list.sql.js';
import { foldStatement } from '../../platform/counting/fold-statement.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import type { Tx } from '../../platform/database/transactions.js';
import type { Page } from '../../platform/paging/page.js';
import { listQuery } from './webhook-event-list.sql.js';
import {
  UNSETTLED,
  type UnsettledStatus,
  type WebhookEvent,
  type WebhookEventListRequest,
  type WebhookEventWithBody,
} from './webhook-event.js';
import { WebhookEventEntity } from './webhook-event.entity.js';

const NOT_LISTED = ['body', 'body_hash', 'progress'] as const;
type Row = Omit<WebhookEventEntity, (typeof NOT_LISTED)[number]>;

const COLUMNS = getMetadataArgsStorage()
  .columns.filter(({ target }) => target === WebhookEventEntity)
  .map(({ propertyName }) => propertyName)
  .filter((name) => !NOT_LISTED.some((other) => other === name))
  .join(', ');

const FOLD = foldStatement('webhook_event', ['source', 'status']);

const UNSETTLED_TOTALS = UNSETTLED.map((status) => {
  const conditions = [`status = '${status}'`];
  const n = exactTotal(
    { table: 'webhook_event_counts', conditions },
    { table: 'webhook_event_count_deltas', conditions },
  );
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

  /** With the body, where there is one. */
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

  /** By the sums, so that a scrape costs the same however many there are. */
  async countUnsettled(): Promise<Readonly<Record<UnsettledStatus, number>>> {
    const [row] = await this.statements.rows<Record<UnsettledStatus, number>>(COUNT_UNSETTLED, []);
    return row!;
  }

  /** Adds at most `limit` deltas to the sums; answers how many those were. */
  async fold(tx: Tx, limit: number): Promise<number> {
    const [row] = await this.statements.rowsIn<{ n: number }>(tx, FOLD, [limit]);
    return row?.n ?? 0;
  }
}

function eventOf(row: Row): WebhookEvent {
  return {
    id: row.id,
    source: row.source,
    status: row.status,
    incidentIds: row.incident_ids,
    duplicateOf: row.duplicate_of ?? undefined,
    error: row.error ?? undefined,
    attempts: row.attempts,
    receivedAt: row.received_at,
    processedAt: row.processed_at ?? undefined,
  };
}
