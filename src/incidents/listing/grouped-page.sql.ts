import { where } from '../../platform/counting/counted-list.sql.js';
import { type Dimension, sumConditions, valueConditions } from '../counting/counts.sql.js';
import type { SortField } from './incident-list.js';
import type { FilterSql } from './list-filter.sql.js';
import { matchingIds, type PageIds, type PageWindow } from './page-ids.sql.js';

const TYPE_OF: Readonly<Record<Dimension, string>> = {
  severity: 'incident_severity',
  status: 'incident_status',
  incident_type: 'text collate "C"',
  source: 'text collate "C"',
};

export function isDimension(field: SortField): field is Dimension {
  return field in TYPE_OF;
}

/**
 * Sorted by a dimension: its values one after the other, each with its ids in order. The counts tell in which value the
 * page begins, so that the ones before it are not read.
 */
export function groupedPage(
  dimension: Dimension,
  filter: FilterSql,
  { direction, skip, take }: PageWindow,
  bound: number,
): PageIds | undefined {
  const ofThisValue = { ...filter.chosen, [dimension]: { each: ['visited.value'] } };
  const ids = matchingIds({ ...filter, chosen: ofThisValue }, direction, bound);
  if (!ids) return undefined;
  return {
    ctes: [
      `counts as (${countsByValue(dimension, filter)})`,
      `
  groups as materialized (
    select value, n, sum(n) over (order by value ${direction} rows between unbounded preceding and current row) - n as before
      from (select value, sum(n) as n from counts group by value having sum(n) > 0) as counted)`,
      `
  visited as materialized (
    select value, before from groups
     where before + n > ${skip} and before < ${skip} + ${take} order by value ${direction})`,
    ],
    ids: `
    select found.id from visited cross join lateral (
      select id from (${ids}) as ordered order by id ${direction}
      offset greatest(${skip} - visited.before, 0)::bigint limit ${take}) as found
     order by visited.value ${direction}, found.id ${direction} limit ${take}`,
  };
}

/** The sums and the fresh deltas that match, with the value of the dimension that each is of. */
function countsByValue(dimension: Dimension, { chosen }: FilterSql): string {
  return `
    select ${dimension}::${TYPE_OF[dimension]} as value, n from incident_counts${where(sumConditions(chosen, dimension))}
    union all
    select ${dimension}, n from fresh${where(valueConditions(chosen))}`;
}
