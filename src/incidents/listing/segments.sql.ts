import type { Direction } from './page-ids.sql.js';

/**
 * Where a deep page of the unfiltered list begins, without reading what comes before it: whole segments are skipped by
 * their counts. Deltas that are not folded yet may lie on either side of the edge, so the edge is chosen as if all that
 * were added lay before it, and then they are counted exactly.
 */
export function segmentEdge(direction: Direction, offset: string): string {
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
     where reached + (select n from added) > ${offset} limit 1),
  start as materialized (
    select bound, ${offset} - skipped - (select coalesce(sum(n), 0) from fresh where ${side}) as rest
      from edge)`;
}

export function fromSegmentEdge(direction: Direction): string {
  const end = `'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`;
  return direction === 'desc'
    ? `id < (select coalesce(bound, ${end}) from start)`
    : `id >= (select bound from start)`;
}

export const REST_OF_OFFSET = `(select rest::bigint from start)`;
