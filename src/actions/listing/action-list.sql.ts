import { ACTION_COLUMNS } from '../records/action-rows.js';
import type { ActionFilter, ActionListRequest } from './action-list.js';

export interface ListQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

interface Dimension {
  readonly column: 'status' | 'action_type' | 'approval_level';
  readonly values: readonly string[];
}

/** One statement, hence one snapshot, that yields a page and the exact total. An empty page is one row with no id. */
export function listQuery({ filter, sort, page, per_page }: ActionListRequest): ListQuery {
  const parameters: unknown[] = [];
  const add = (value: unknown): string => `$${parameters.push(value)}`;
  const direction = sort.descending ? 'desc' : 'asc';
  const dimensions = dimensionsOf(filter);
  const total = totalSql(filter, dimensions, add);
  const offset = (page - 1) * per_page;
  const last = add(offset + per_page);
  const byId = sort.field === 'requested_at' || sort.field === 'created_at';
  const candidates = byId
    ? rangesSql(filter, dimensions, add)
        .map((where) => `(select id from actions${where} order by id ${direction} limit ${last})`)
        .join(' union all ')
    : `select id, executed_at, status, action_type from actions${whereSql(filter, dimensions, add)}
        order by ${orderSql(sort.field, direction)} limit ${last}`;
  const order = orderSql(sort.field, direction);
  const text = `
with total as materialized (select ${total} as total),
  page as materialized (
    select id from (${candidates}) as candidate order by ${order} offset ${add(offset)} limit ${add(per_page)})
select total.total, ${ACTION_COLUMNS}
  from total left join (page join actions on actions.id = page.id) on true
 order by ${orderSql(sort.field, direction, 'actions.')}`;
  return { text, values: parameters };
}

function dimensionsOf({ statuses, types, levels }: ActionFilter): Dimension[] {
  return [
    ...(statuses ? [{ column: 'status' as const, values: statuses }] : []),
    ...(types ? [{ column: 'action_type' as const, values: types }] : []),
    ...(levels ? [{ column: 'approval_level' as const, values: levels }] : []),
  ];
}

type Add = (value: unknown) => string;

/** What an index finds is counted. All others are counted as they change: see action-counts. */
function totalSql(filter: ActionFilter, dimensions: readonly Dimension[], add: Add): string {
  if (isFound(filter)) {
    return `(select count(*) from actions${whereSql(filter, dimensions, add)})`;
  }
  const where = conditionsSql(dimensions, add);
  const sum = (table: string) => `(select coalesce(sum(n), 0) from ${table}${where})`;
  return `(${sum('action_counts')} + ${sum('action_count_deltas')})::bigint`;
}

/** One ordered range of an index for each value of the first dimension, so that a rare one is found without a search. */
function rangesSql(filter: ActionFilter, dimensions: readonly Dimension[], add: Add): string[] {
  const [first, ...others] = dimensions;
  if (!first || isFound(filter)) return [whereSql(filter, dimensions, add)];
  return [...new Set(first.values)].map((value) => {
    const rest = others.map(({ column, values }) => `${column} = any(${add(values)}::text[])`);
    return ` where ${[`${first.column} = ${add(value)}`, ...rest].join(' and ')}`;
  });
}

function whereSql(filter: ActionFilter, dimensions: readonly Dimension[], add: Add): string {
  const { incidentId, requestedBy, approvedBy, executedAfter } = filter;
  const found = [
    ...(incidentId === undefined ? [] : [`incident_id = ${add(incidentId)}`]),
    ...(requestedBy === undefined ? [] : [`requested_by = ${add(requestedBy)}`]),
    ...(approvedBy === undefined ? [] : [`approved_by = ${add(approvedBy)}`]),
    ...(executedAfter === undefined ? [] : [`executed_at > ${add(executedAfter)}::timestamptz`]),
  ];
  return conditionsSql(dimensions, add, found);
}

function conditionsSql(
  dimensions: readonly Dimension[],
  add: Add,
  more: readonly string[] = [],
): string {
  const own = dimensions.map(({ column, values }) => `${column} = any(${add(values)}::text[])`);
  const all = [...own, ...more];
  return all.length === 0 ? '' : ` where ${all.join(' and ')}`;
}

/** Of one incident or one principal, or in a range of time. */
function isFound({ incidentId, requestedBy, approvedBy, executedAfter }: ActionFilter): boolean {
  return [incidentId, requestedBy, approvedBy, executedAfter].some((one) => one !== undefined);
}

/** Equal keys are ordered by id in the same direction; what was not executed comes last either way. */
function orderSql(
  field: ActionListRequest['sort']['field'],
  direction: string,
  table = '',
): string {
  const id = `${table}id ${direction}`;
  switch (field) {
    case 'requested_at':
    case 'created_at':
      return id;
    case 'executed_at':
      return `${table}executed_at ${direction} nulls last, ${id}`;
    case 'status':
    case 'action_type':
      return `${table}${field} ${direction}, ${id}`;
  }
}
