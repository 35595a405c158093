import type { Statement } from '../../platform/database/statements.js';
import { foldedCount, FRESH_DELTAS, freshCount } from '../counting/counts.sql.js';
import { groupedPage, isGrouped } from './grouped-page.sql.js';
import type { IncidentListRequest, Sort } from './incident-list.js';
import { conditionsOf, type FilterSql, filterSql, Parameters } from './list-filter.sql.js';
import { boundFor, type Direction, orderedIds } from './page-ids.sql.js';
import { triagedPage } from './triaged-page.sql.js';
import { fromSegmentEdge, REST_OF_OFFSET, segmentEdge } from './segments.sql.js';

export interface ListQuery {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** Before this offset, skipping rows is cheaper than looking segments up. */
const SHALLOW = 512;
/** What is rarer than these pages is planned each time, instead of kept prepared on every connection. */
const LARGEST_PREPARED = 4096;
const USUAL_SIZES = new Set([10, 20, 25, 50, 100]);

const ITEM = `id, number, incident_type, severity, status, source, created_at, updated_at`;

/** One statement, hence one snapshot, that yields a page and the exact total. An empty page is one row with no id. */
export function listQuery(request: IncidentListRequest): ListQuery {
  const parameters = new Parameters();
  const filter = filterSql(request.filter, parameters);
  const offset = (request.page - 1) * request.per_page;
  const page = pageOf(request, filter, parameters, offset);
  const order = orderOf(request.sort, 'item.');
  const text = `
with ${FRESH_DELTAS},
  total as materialized (select ${totalOf(filter)}::bigint as total)${page.with ? `,${page.with}` : ''},
  page as materialized (${page.ids})
select total.total, item.*
  from total left join (
    page cross join lateral (
      select ${ITEM}, triaged_at from incidents where incidents.id = page.id offset 0) as item) on true
 order by ${order}`;
  const prepared =
    page.prepared && USUAL_SIZES.has(request.per_page) && filter.created.length === 0;
  return { statement: { name: prepared ? nameOf(text) : '', text }, values: parameters.values };
}

interface PageSql {
  readonly with?: string;
  readonly ids: string;
  readonly prepared: boolean;
}

function pageOf(
  { sort, per_page }: IncidentListRequest,
  filter: FilterSql,
  parameters: Parameters,
  offset: number,
): PageSql {
  const skip = parameters.add(offset, 'bigint');
  // A number in the text, like the bound: the planner must know it, or it would plan each execution anew.
  const take = String(per_page);
  const window = `offset ${skip} limit ${take}`;
  const direction = directionOf(sort);
  const bound = boundFor(offset + per_page);
  const prepared = bound <= LARGEST_PREPARED;
  const gate = `where (select total from total) > ${skip}`;

  if (sort.field === 'created_at') {
    if (isUnfiltered(filter)) return defaultPage(direction, offset, skip, take);
    if (hasDimension(filter)) {
      const ids = orderedIds(filter, direction, bound);
      if (ids) {
        return {
          ids: `select id from (${ids}) as ordered ${gate} order by id ${direction} ${window}`,
          prepared,
        };
      }
    }
  } else if (sort.field === 'triaged_at') {
    const order = {
      first: `triaged_at ${direction}, id ${direction}`,
      rest: `id ${direction}`,
      both: orderOf(sort),
    };
    return {
      ...triagedPage(conditionsOf(filter), order, offset + per_page, window),
      prepared: false,
    };
  } else if (isGrouped(sort.field) && filter.created.length === 0) {
    const grouped = groupedPage({ field: sort.field, filter, direction, bound, skip, take });
    if (grouped) return { ...grouped, prepared };
  }
  return {
    ids: `select id from incidents where ${conditionsOf(filter)} and (select total from total) > ${skip} order by ${orderOf(sort)} ${window}`,
    prepared: false,
  };
}

function defaultPage(direction: Direction, offset: number, skip: string, take: string): PageSql {
  const list = (condition: string, skipped: string, bound: number) => `
    select id from (
      select id from incidents where deleted_at is null${condition} order by id ${direction} limit ${bound}) as ordered
     order by id ${direction} offset ${skipped} limit ${take}`;
  if (offset < SHALLOW) return { ids: list('', skip, SHALLOW + 100), prepared: true };
  return {
    with: segmentEdge(direction, skip),
    ids: list(` and ${fromSegmentEdge(direction)}`, REST_OF_OFFSET, 1_000_000),
    prepared: true,
  };
}

function totalOf(filter: FilterSql): string {
  if (filter.created.length > 0) {
    return `(select count(*) from incidents where ${conditionsOf(filter)})`;
  }
  const by = {
    statuses: filter.statuses && filter.statuses.all,
    severities: filter.severities && filter.severities.all,
    types: filter.types && filter.types.all,
    ...(filter.source && { source: filter.source }),
  };
  return `(${foldedCount(by)} + ${freshCount(by)})`;
}

const directionOf = (sort: Sort): Direction => (sort.descending ? 'desc' : 'asc');

/** Equal keys are ordered by id in the same direction; what has no value comes last either way. */
function orderOf(sort: Sort, table = ''): string {
  const direction = directionOf(sort);
  const id = `${table}id ${direction}`;
  switch (sort.field) {
    case 'created_at':
      return id;
    case 'incident_number':
      return `${table}number ${direction}`;
    case 'triaged_at':
      return `${table}triaged_at ${direction} nulls last, ${id}`;
    case 'updated_at':
    case 'severity':
    case 'status':
    case 'incident_type':
    case 'source':
      return `${table}${sort.field} ${direction}, ${id}`;
  }
}

function hasDimension({ statuses, severities, types, source }: FilterSql): boolean {
  return (statuses ?? severities ?? types ?? source) !== undefined;
}

function isUnfiltered(filter: FilterSql): boolean {
  return !hasDimension(filter) && filter.created.length === 0;
}

/** Texts are few: they differ by which filters are there, not by their values. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (!name) names.set(text, (name = `incidents_list_${names.size + 1}`));
  return name;
}
