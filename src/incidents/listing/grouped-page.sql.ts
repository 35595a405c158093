import {
  BY_ID,
  columnsOf,
  type Order,
  orderBy,
  type OrderTerm,
  where,
} from '../../platform/counting/counted-list.sql.js';
import { type Dimension, sumConditions, valueConditions } from '../counting/counts.sql.js';
import { conditionsOf, type FilterSql } from './list-filter.sql.js';
import { matchingIds, type PageIds, type PageWindow } from './page-ids.sql.js';

const TYPE_OF: Readonly<Record<Dimension, string>> = {
  severity: 'incident_severity',
  status: 'incident_status',
  incident_type: 'text collate "C"',
  source: 'text collate "C"',
};

type DimensionTerm = OrderTerm & { readonly column: Dimension };

const isDimension = (term: OrderTerm): term is DimensionTerm => term.column in TYPE_OF;

/** The dimensions that an order begins with. */
export function leadingDimensions(order: Order): readonly DimensionTerm[] {
  const end = order.findIndex((term) => !isDimension(term));
  return order.slice(0, end).filter(isDimension);
}

/**
 * Sorted by dimensions first: their combinations of values one after the other, each with its incidents in the order of
 * the rest. The counts tell in which combination the page begins, so that the ones before it are not read.
 */
export function groupedPage(
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

/** The first ids of the combination that is visited, in the order of the rest. */
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

/** The sums and the fresh deltas that match, with the values of the dimensions that each is of. */
function countsByValue(names: readonly Dimension[], { chosen }: FilterSql): string {
  const typed = names.map((name) => `${name}::${TYPE_OF[name]} as ${name}`);
  return `
    select ${typed.join(', ')}, n from incident_counts${where(sumConditions(chosen, names))}
    union all
    select ${names.join(', ')}, n from fresh${where(valueConditions(chosen))}`;
}
