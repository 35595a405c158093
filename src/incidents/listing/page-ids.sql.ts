import {
  columnsOf,
  type Direction,
  idsInOrder,
  isChosen,
  type Order,
  orderBy,
  where,
} from '../../platform/counting/counted-list.sql.js';
import type { ChosenValues } from '../counting/counts.sql.js';
import { INCIDENT_STATUSES, SEVERITIES } from '../incident.js';
import { conditionsOf, type FilterSql } from './list-filter.sql.js';

/** How the ids of a page are found: common table expressions that come first, and the query of the ids. */
export interface PageIds {
  readonly ctes?: readonly string[];
  readonly ids: string;
}

/** Which part of the list the page is. */
export interface PageWindow {
  readonly offset: number;
  /** The parameter of the offset. */
  readonly skip: string;
  /** A number in the text: the planner must know it, or it would plan each execution anew. */
  readonly take: number;
}

/** With more ranges than this, descending into each of them costs more than sorting. */
const MOST_RANGES = 36;

const ALL_STATUSES = INCIDENT_STATUSES.map((word) => `'${word}'::incident_status`);
const ALL_SEVERITIES = SEVERITIES.map((word) => `'${word}'::incident_severity`);

/** The first `bound` ids that match, as a merge of index ranges; undefined when those would be too many. */
export function matchingIds(
  { chosen, uncounted }: FilterSql,
  direction: Direction,
  bound: number,
): string | undefined {
  const ranges = rangesOf(chosen);
  if (ranges.length > MOST_RANGES) return undefined;
  const conditions = ranges.map((range) => ['deleted_at is null', ...range, ...uncounted]);
  return idsInOrder('incidents', conditions, direction, bound);
}

/** One range for each combination of a status, a severity and a type or source, or one for a type or source alone. */
function rangesOf({ source, incident_type, severity, status }: ChosenValues): string[][] {
  const types = incident_type?.each.map((type) => [`incident_type = ${type}`]);
  const first = source
    ? source.each.map((one) => [
        `source = ${one}`,
        ...(incident_type ? [isChosen('incident_type', incident_type)] : []),
      ])
    : types;
  // Alone, a type or a source has an index in the order of ids.
  if (first && !status && !severity) return first;
  const combinations = (status?.each ?? ALL_STATUSES).flatMap((one) =>
    (severity?.each ?? ALL_SEVERITIES).map((other) => [`status = ${one}`, `severity = ${other}`]),
  );
  return first
    ? first.flatMap((range) => combinations.map((more) => [...range, ...more]))
    : combinations;
}

/** The next power of four, so that a few statements serve all pages. */
export function boundFor(rows: number): number {
  let bound = 256;
  while (bound < rows) bound *= 4;
  return bound;
}

/** Before this offset, skipping rows is cheaper than looking segments up. */
const SHALLOW = 512;

/** The page of a list without filters, in the order of ids. */
export function unfilteredPage(direction: Direction, { offset, skip, take }: PageWindow): PageIds {
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
 * Where a deep page begins, without reading what comes before it: whole segments are skipped by their counts. Deltas
 * that are not folded yet may lie on either side of the edge, so the edge is chosen as if all that were added lay before
 * it, and then they are counted exactly.
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
 * Sorted by a time that not all have, such as triaged_at, with what has none at the end. The two parts are read apart, each
 * in the order of an index, and
 * the second only when the first does not fill the page.
 */
export function datedPage(
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
