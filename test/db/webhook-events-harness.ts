import { randomInt } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { Statements } from '../../src/platform/database/statements.js';
import { foldCounts, readPage } from '../../src/platform/counting/counted-list.js';
import { newId } from '../../src/platform/ids.js';
import {
  eventList,
  type WebhookEventQueryDto,
  type WebhookEventStatus,
} from '../../src/webhooks/webhook-events.js';

export interface Inserted {
  readonly id: string;
  readonly source: string;
  readonly status: WebhookEventStatus;
}

export const listEvents = (dataSource: DataSource, request: WebhookEventQueryDto) =>
  readPage<Inserted>(new Statements(dataSource), eventList(request));

export const foldDeltas = (dataSource: DataSource) => foldCounts(new Statements(dataSource));

export const pick = <T>(items: readonly T[]): T => items[randomInt(items.length)]!;

/** Inserts events, two in each millisecond. `at` returns the columns of an event by its number. */
export async function insertEvents(
  dataSource: DataSource,
  count: number,
  at: (index: number) => Pick<Inserted, 'source' | 'status'>,
  start = Date.now() - count,
): Promise<Inserted[]> {
  const made = Array.from({ length: count }, (_, index) => ({
    id: newId(start + Math.floor(index / 2)),
    ...at(index),
  }));
  await dataSource.query(
    `insert into webhook_events (id, source, status, body_hash, received_at)
     select id, source, status, sha256(id::text::bytea),
            to_timestamp(('x' || left(translate(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
       from unnest($1::uuid[], $2::text[], $3::text[]) as added (id, source, status)`,
    [made.map(({ id }) => id), made.map(({ source }) => source), made.map(({ status }) => status)],
  );
  return made;
}

export interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Returns the number of rows that the scans of a plan read. */
export function rowsRead(table: string, node: PlanNode): number {
  const below = (node.Plans ?? []).reduce((sum, plan) => sum + rowsRead(table, plan), 0);
  if (node['Relation Name'] !== table) return below;
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': lost = 0 } =
    node;
  return below + (node['Actual Rows'] + filtered + lost) * node['Actual Loops'];
}
