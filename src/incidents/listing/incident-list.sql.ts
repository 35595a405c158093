import {
  BY_ID,
  listStatement,
  type Order,
  orderBy,
  orderOf,
  type SortColumn,
  StatementValues,
  where,
} from '../../platform/counting/counted-list.sql.js';
import type { Statement } from '../../platform/database/statements.js';
import { countOf, FRESH_DELTAS } from '../counting/counts.sql.js';
import { groupedPage, leadingDimensions } from './grouped-page.sql.js';
import type { IncidentListRequest, SortField } from './incident-list.js';
import { conditionsOf, type FilterSql, filterSql, hasChoice } from './list-filter.sql.js';
import {
  boundFor,
  datedPage,
  matchingIds,
  type PageIds,
  type PageWindow,
  unfilteredPage,
} from './page-ids.sql.js';

export interface ListQuery {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** A page that is rarer than these is planned each time, instead of kept prepared on every connection. */
const LARGEST_PREPARED = 4096;
const USUAL_SIZES = new Set([10, 20, 25, 50, 100]);

const COLUMNS = `id, number, incident_type, severity, status, source, title, created_at, updated_at, triaged_at,
  resolved_at, resolved_by, classification`;

const SORT_COLUMNS: Readonly<Record<SortField, SortColumn>> = {
  created_at: BY_ID,
  incident_number: { column: 'number', unique: true },
  triaged_at: { column: 'triaged_at', nullable: true },
  resolved_at: { column: 'resolved_at', nullable: true },
  updated_at: { column: 'updated_at' },
  severity: { column: 'severity' },
  status: { column: 'status' },
  incident_type: { column: 'incident_type' },
  source: { column: 'source' },
};

/** One statement that yields a page and the exact total: see listStatement. */
export function listQuery({
  filter: wanted,
  sort,
  page,
  per_page,
}: IncidentListRequest): ListQuery {
  const values = new StatementValues();
  const filter = filterSql(wanted, values);
  const order = orderOf(sort, SORT_COLUMNS);
  const offset = (page - 1) * per_page;
  const window = { offset, skip: values.add(offset, 'bigint'), take: per_page };
  const { ctes = [], ids, prepared } = pageOf(order, filter, window);
  const text = listStatement({
    ctes: [FRESH_DELTAS, ...ctes],
    total: totalOf(filter),
    ids,
    columns: COLUMNS,
    table: 'incidents',
    order,
  });
  const isUsual =
    prepared && sort.length === 1 && USUAL_SIZES.has(per_page) && filter.uncounted.length === 0;
  return { statement: { name: isUsual ? nameOf(text) : '', text }, values: values.all };
}

function pageOf(
  order: Order,
  filter: FilterSql,
  window: PageWindow,
): PageIds & { readonly prepared: boolean } {
  const { offset, skip, take } = window;
  const bound = boundFor(offset + take);
  const prepared = bound <= LARGEST_PREPARED;
  // A page past the end is known by the total: nothing is read for it.
  const beforeEnd = `(select total from total) > ${skip}`;
  const [{ column, direction, nullable }] = order;

  if (column === BY_ID.column && hasChoice(filter)) {
    const ids = matchingIds(filter, direction, bound);
    if (ids) {
      return {
        ids: `select id from (${ids}) as ordered where ${beforeEnd} order by id ${direction} offset ${skip} limit ${take}`,
        prepared,
      };
    }
  } else if (column === BY_ID.column && filter.uncounted.length === 0) {
    return { ...unfilteredPage(direction, window), prepared: true };
  } else if (nullable) {
    return { ...datedPage(order, filter, window), prepared: false };
  } else if (leadingDimensions(order).length > 0 && filter.uncounted.length === 0) {
    const grouped = groupedPage(order, filter, window, bound);
    if (grouped) return { ...grouped, prepared };
  }
  const conditions = [...conditionsOf(filter), beforeEnd];
  return {
    ids: `select id from incidents${where(conditions)} order by ${orderBy(order)} offset ${skip} limit ${take}`,
    prepared: false,
  };
}

function totalOf(filter: FilterSql): string {
  return filter.uncounted.length > 0
    ? `(select count(*) from incidents${where(conditionsOf(filter))})`
    : countOf(filter.chosen);
}

/** Texts are few: they differ by which filters are there, not by their values. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (!name) names.set(text, (name = `incidents_list_${names.size + 1}`));
  return name;
}
