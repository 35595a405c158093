import {
  columnsOf,
  type Direction,
  idsInOrder,
  isChosen,
  type Order,
  orderBy,
  where,
  BY_ID,
  type OrderTerm,
  type Choice,
  choiceOf,
  StatementValues,
  listStatement,
  orderOf,
  type SortColumn,
} from '../../platform/counting/counted-list.sql.js';
import {
  type ChosenValues,
  type Dimension,
  sumConditions,
  valueConditions,
  countOf,
  FRESH_DELTAS,
} from '../counting/incident-counts.repository.js';
import {
  INCIDENT_STATUSES,
  SEVERITIES,
  sequenceIn,
  type IncidentFilter,
  type IncidentListRequest,
  type SortField,
  LISTED_COLUMNS,
} from '../incident.js';
import { endIdBefore, endMs, firstIdAfter, wholeMs } from '../../platform/ids.js';
import type { Statement } from '../../platform/database/statements.js';

/** Query for the ids of a page, with its common table expressions. */
interface PageIds {
  readonly ctes?: readonly string[];
  readonly ids: string;
}

/** Position of the page in the list. */
interface PageWindow {
  readonly offset: number;
  /** Parameter of the offset. */
  readonly skip: string;
  /** A literal number, which the planner must know to keep its plan. */
  readonly take: number;
}

/** With more ranges, sorting is cheaper than merging them. */
const MOST_RANGES = 36;

const ALL_STATUSES = INCIDENT_STATUSES.map((word) => `'${word}'::incident_status`);
const ALL_SEVERITIES = SEVERITIES.map((word) => `'${word}'::incident_severity`);

/** The first `bound` matching ids, as a merge of index ranges; `undefined` if there would be too many ranges. */
function matchingIds(
  { chosen, uncounted }: FilterSql,
  direction: Direction,
  bound: number,
): string | undefined {
  const ranges = rangesOf(chosen);
  if (ranges.length > MOST_RANGES) return undefined;
  const conditions = ranges.map((range) => ['deleted_at is null', ...range, ...uncounted]);
  return idsInOrder('incidents', conditions, direction, bound);
}

/** One range per combination of status, severity and a type or source, or one for a single type or source. */
function rangesOf({ source, incident_type, severity, status }: ChosenValues): string[][] {
  const types = incident_type?.each.map((type) => [`incident_type = ${type}`]);
  const first = source
    ? source.each.map((one) => [
        `source = ${one}`,
        ...(incident_type ? [isChosen('incident_type', incident_type)] : []),
      ])
    : types;
  // A type or source alone has an index in the order of ids.
  if (first && !status && !severity) return first;
  const combinations = (status?.each ?? ALL_STATUSES).flatMap((one) =>
    (severity?.each ?? ALL_SEVERITIES).map((other) => [`status = ${one}`, `severity = ${other}`]),
  );
  return first
    ? first.flatMap((range) => combinations.map((more) => [...range, ...more]))
    : combinations;
}

/** Next power of four, so that a few statements serve all pages. */
function boundFor(rows: number): number {
  let bound = 256;
  while (bound < rows) bound *= 4;
  return bound;
}

/** Below this offset, skipping rows is cheaper than reading segments. */
const SHALLOW = 512;

/** Page of a list without filters, in the order of ids. */
function unfilteredPage(direction: Direction, { offset, skip, take }: PageWindow): PageIds {
  const order = `order by id ${direction}`;
  const list = (conditions: readonly string[], skipped: string, bound: number) => `
    select id from (
      select id from incidents${where(['deleted_at is null', ...conditions])} ${order} limit ${bound}) as ordered
     ${order} offset ${skipped} limit ${take}`;
  if (offset < SHALLOW) return { ids: list([], skip, SHALLOW + 100) };
  return {
    ctes: [segmentStart(direction, skip)],
    ids: list([fromSegmentStart(direction)], `(select rest::bigint from start)`, 1_000_000),
  };
}

/**
 * Start of a deep page: skips whole segments by their counts instead of reading their rows. Unfolded deltas may lie on
 * either side of the boundary. So it is chosen as if all insertions came before it, and then the deltas are counted
 * exactly.
 */
function segmentStart(direction: Direction, skip: string): string {
  const [running, side] =
    direction === 'desc'
      ? ['lag(first_id) over walk', 'incident_id >= edge.bound']
      : ['first_id', 'incident_id < edge.bound'];
  return `
  added as materialized (select coalesce(sum(n) filter (where n > 0), 0) as n from fresh),
  edge as materialized (
    select bound, skipped from (
      select ${running} as bound, sum(n) over walk as reached, sum(n) over walk - n as skipped
        from incident_segments
      window walk as (order by first_id ${direction} rows between unbounded preceding and current row)
    ) as walked
     where reached + (select n from added) > ${skip} limit 1),
  start as materialized (
    select bound, ${skip} - skipped - (select coalesce(sum(n), 0) from fresh where ${side}) as rest
      from edge)`;
}

function fromSegmentStart(direction: Direction): string {
  const end = `'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`;
  return direction === 'desc'
    ? `id < (select coalesce(bound, ${end}) from start)`
    : `id >= (select bound from start)`;
}

/**
 * Page sorted by a nullable time such as triaged_at, with nulls last. Reads both parts in the order of an index, and
 * the second part only if the first does not fill the page.
 */
function datedPage(
  [dated, ...others]: Order,
  filter: FilterSql,
  { offset, skip, take }: PageWindow,
): PageIds {
  const most = offset + take;
  const part = (...conditions: string[]) =>
    `select ${columnsOf([dated, ...others])} from incidents${where([...conditionsOf(filter), ...conditions])}`;
  return {
    ctes: [
      `
  dated as materialized (
    ${part(`${dated.column} is not null`)}
     order by ${orderBy([{ ...dated, nullable: undefined }, ...others])} limit ${most})`,
      `
  undated as materialized (
    ${part(`${dated.column} is null`, `(select count(*) from dated) < ${most}`)}
     order by ${orderBy(others)} limit ${most})`,
    ],
    ids: `
    select id from (select * from dated union all select * from undated) as either
     order by ${orderBy([dated, ...others])} offset ${skip} limit ${take}`,
  };
}

const TYPE_OF: Readonly<Record<Dimension, string>> = {
  severity: 'incident_severity',
  status: 'incident_status',
  incident_type: 'text collate "C"',
  source: 'text collate "C"',
};

type DimensionTerm = OrderTerm & { readonly column: Dimension };

const isDimension = (term: OrderTerm): term is DimensionTerm => term.column in TYPE_OF;

/** Dimensions at the start of an order. */
function leadingDimensions(order: Order): readonly DimensionTerm[] {
  const end = order.findIndex((term) => !isDimension(term));
  return order.slice(0, end).filter(isDimension);
}

/**
 * Page sorted by dimensions first: one combination of values after the other, each in the order of the remaining terms.
 * The counts determine the combinations of the page, so that earlier ones are not read.
 */
function groupedPage(
  order: Order,
  filter: FilterSql,
  { skip, take }: PageWindow,
  bound: number,
): PageIds | undefined {
  const groupedBy = leadingDimensions(order);
  const rest = order.slice(groupedBy.length);
  const names = groupedBy.map(({ column }) => column);
  const ids = idsOfGroup(names, rest, filter, bound);
  if (!ids) return undefined;
  const list = names.join(', ');
  const inOrder = orderBy(groupedBy);
  return {
    ctes: [
      `counts as (${countsByValue(names, filter)})`,
      `
  groups as materialized (
    select ${list}, n, sum(n) over (order by ${inOrder} rows between unbounded preceding and current row) - n as before
      from (select ${list}, sum(n) as n from counts group by ${list} having sum(n) > 0) as counted)`,
      `
  visited as materialized (
    select ${list}, before from groups
     where before + n > ${skip} and before < ${skip} + ${take} order by ${inOrder})`,
    ],
    ids: `
    select found.id from visited cross join lateral (
      select ${columnsOf(rest)} from (${ids}) as ordered order by ${orderBy(rest)}
      offset greatest(${skip} - visited.before, 0)::bigint limit ${take}) as found
     order by ${orderBy(groupedBy, 'visited')}, ${orderBy(rest, 'found')} limit ${take}`,
  };
}

/** First ids of the current combination, in the order of the remaining terms. */
function idsOfGroup(
  names: readonly Dimension[],
  rest: readonly OrderTerm[],
  { chosen, uncounted }: FilterSql,
  bound: number,
): string | undefined {
  const visited = names.map((name) => [name, { each: [`visited.${name}`] }] as const);
  const filter = { chosen: { ...chosen, ...Object.fromEntries(visited) }, uncounted };
  const [first] = rest;
  if (first?.column === BY_ID.column) return matchingIds(filter, first.direction, bound);
  return `select ${columnsOf(rest)} from incidents${where(conditionsOf(filter))}
        order by ${orderBy(rest)} limit ${bound}`;
}

/** Matching sums and fresh deltas, with their dimension values. */
function countsByValue(names: readonly Dimension[], { chosen }: FilterSql): string {
  const typed = names.map((name) => `${name}::${TYPE_OF[name]} as ${name}`);
  return `
    select ${typed.join(', ')}, n from incident_counts${where(sumConditions(chosen, names))}
    union all
    select ${names.join(', ')}, n from fresh${where(valueConditions(chosen))}`;
}

/** A filter as SQL. */
interface FilterSql {
  readonly chosen: ChosenValues;
  /** Conditions on columns without counts. created_at uses the id, which begins with that time. */
  readonly uncounted: readonly string[];
}

function filterSql(filter: IncidentFilter, values: StatementValues): FilterSql {
  const status = choiceOf(filter.statuses, 'incident_status', values, INCIDENT_STATUSES.length);
  const severity = choiceOf(filter.severities, 'incident_severity', values, SEVERITIES.length);
  const incident_type = choiceOf(filter.types, 'text', values);
  const [one, ...more] = filter.sources ?? [];
  const source: Choice | undefined =
    one === undefined || more.length > 0
      ? choiceOf(filter.sources, 'text', values)
      : { each: [values.add(one, 'text')] };
  return {
    chosen: { source, incident_type, severity, status },
    uncounted: uncountedConditions(filter, values),
  };
}

function uncountedConditions(filter: IncidentFilter, values: StatementValues): string[] {
  const { createdAfter, createdBefore, updatedAfter, resolvedAfter, resolvedBefore } = filter;
  const { numbers, classifications } = filter;
  const time = (ms: number) => values.add(new Date(ms), 'timestamptz');
  return [
    ...(createdAfter ? [`id >= ${values.add(firstIdAfter(createdAfter), 'uuid')}`] : []),
    ...(createdBefore ? [`id < ${values.add(endIdBefore(createdBefore), 'uuid')}`] : []),
    ...(updatedAfter ? [`updated_at > ${time(wholeMs(updatedAfter))}`] : []),
    ...(resolvedAfter ? [`resolved_at > ${time(wholeMs(resolvedAfter))}`] : []),
    ...(resolvedBefore ? [`resolved_at < ${time(endMs(resolvedBefore))}`] : []),
    ...(numbers ? [numberedAs(numbers, values)] : []),
    ...(classifications ? [`classification = any(${values.add(classifications, 'text[]')})`] : []),
  ];
}

/** Finds incidents by the indexed sequence, then compares the whole number (see incidentNumber). */
function numberedAs(numbers: readonly string[], values: StatementValues): string {
  const sequences = numbers.map(sequenceIn);
  return `number = any(${values.add(sequences, 'bigint[]')})
    and ${NUMBER} = any(${values.add(numbers, 'text[]')})`;
}

const NUMBER = `'INC-' || to_char(created_at at time zone 'UTC', 'YYYY') || '-'
    || lpad(number::text, greatest(length(number::text), 4), '0')`;

function conditionsOf({ chosen, uncounted }: FilterSql): string[] {
  return ['deleted_at is null', ...valueConditions(chosen), ...uncounted];
}

function hasChoice({ chosen }: FilterSql): boolean {
  return Object.values(chosen).some((choice) => choice !== undefined);
}

export interface ListQuery {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** Larger pages are planned each time instead of being prepared on every connection. */
const LARGEST_PREPARED = 4096;
const USUAL_SIZES = new Set([10, 20, 25, 50, 100]);

const COLUMNS = [...LISTED_COLUMNS, 'triaged_at', 'number'].join(', ');

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

/** One statement for a page and the exact total: see listStatement. */
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
  // For a page past the end nothing is read, because the total is known.
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

/** Texts are few: they depend on the filters, not on their values. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (!name) names.set(text, (name = `incidents_list_${names.size + 1}`));
  return name;
}
