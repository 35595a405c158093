import {
  byId,
  type Choice,
  choiceOf,
  type Direction,
  exactTotal,
  isChosen,
  listStatement,
  StatementValues,
  where,
} from '../../platform/counting/counted-list.sql.js';
import type { WebhookEventCountEntity } from './webhook-event.entity.js';
import { WEBHOOK_EVENT_STATUSES, type WebhookEventListRequest } from './webhook-event.js';

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
    total: exactTotal(
      { table: 'webhook_event_counts', conditions },
      { table: 'webhook_event_count_deltas', conditions },
    ),
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
type Dimension = Exclude<keyof WebhookEventCountEntity, 'n'>;

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
