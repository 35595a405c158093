import type { Page, Sort } from '../paging/page.js';

/**
 * Building blocks of the SQL statement that reads one page of a list and its exact total in one snapshot. The page
 * query differs per list, because each list has other indexes.
 */

export type Direction = 'asc' | 'desc';

/** Collects the values of a statement while its text is built. */
export class StatementValues {
  readonly all: unknown[] = [];

  /** Returns the SQL parameter for the value. */
  add(value: unknown, type: string): string {
    return `$${this.all.push(value)}::${type}`;
  }
}

/** The values that a filter accepts for a column, as SQL expressions. */
export interface Choice {
  readonly each: readonly string[];
  /** All values as one array, if there can be more than one. */
  readonly array?: string;
}

/** Returns `undefined` if the filter names no value or all values. */
export function choiceOf(
  chosen: readonly string[] | undefined,
  type: string,
  values: StatementValues,
  all = Infinity,
): Choice | undefined {
  const wanted = [...new Set(chosen)];
  if (wanted.length === 0 || wanted.length === all) return undefined;
  const array = values.add(wanted, `${type}[]`);
  return { array, each: wanted.map((_, index) => `(${array})[${index + 1}]`) };
}

export function isChosen(column: string, { each, array }: Choice): string {
  return array ? `${column} = any(${array})` : `${column} = ${each[0]}`;
}

export function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
}

/**
 * Number of rows with these values, equal to count(*) in the same statement: the sums of the fold plus the deltas that
 * are not folded yet. See CountFold.
 */
export function countOf(counts: string, conditions: readonly string[]): string {
  const sumOf = (table: string) => `(select coalesce(sum(n), 0) from ${table}${where(conditions)})`;
  return `(${sumOf(`${counts}_counts`)} + ${sumOf(`${counts}_count_deltas`)})`;
}

/**
 * Selects ids in order by merging ordered index ranges. PostgreSQL reads each range only as far as the page needs, and
 * merges only if each range has its own `order by`. `bound` is a literal: for a parameter, the planner expects a tenth
 * of the table and sorts.
 */
export function idsInOrder(
  table: string,
  ranges: readonly (readonly string[])[],
  direction: Direction,
  bound: number,
): string {
  const order = `order by id ${direction}`;
  const selects = ranges.map((range) => `(select id from ${table}${where(range)} ${order})`);
  return `select id from (${selects.join(' union all ')}) as range ${order} limit ${bound}`;
}

/** Column for a field of `sort`. */
export interface SortColumn {
  readonly column: string;
  readonly unique?: true;
  readonly nullable?: true;
}

export const BY_ID: SortColumn = { column: 'id', unique: true };

export interface OrderTerm extends SortColumn {
  readonly direction: Direction;
}

/** Columns of a sort order. The last column is unique, so that no two rows have the same position. */
export type Order = readonly [OrderTerm, ...OrderTerm[]];

export const byId = (direction: Direction): Order => [{ ...BY_ID, direction }];

/**
 * Returns the order for the fields of `sort`. Rows with equal values are ordered by id, in the direction of the last
 * field. Omits fields after a unique column, because they have no effect.
 */
export function orderOf<Field extends string>(
  sort: readonly Sort<Field>[],
  columns: Readonly<Record<Field, SortColumn>>,
): Order {
  const terms = sort.map(({ field, descending }): OrderTerm => ({
    ...columns[field],
    direction: descending ? 'desc' : 'asc',
  }));
  const unique = terms.findIndex((term) => term.unique);
  const [first, ...others] = unique < 0 ? terms : terms.slice(0, unique + 1);
  const [last] = byId(terms.at(-1)?.direction ?? 'desc');
  if (!first) return [last];
  return unique < 0 ? [first, ...others, last] : [first, ...others];
}

/** Returns the columns of an order, and the id. */
export const columnsOf = (order: readonly OrderTerm[]): string =>
  [...new Set([...order.map(({ column }) => column), BY_ID.column])].join(', ');

/** Nulls come last in both directions. */
export function orderBy(order: readonly OrderTerm[], table?: string): string {
  const prefix = table ? `${table}.` : '';
  return order
    .map(
      ({ column, direction, nullable }) =>
        `${prefix}${column} ${direction}${nullable ? ' nulls last' : ''}`,
    )
    .join(', ');
}

export interface ListStatement {
  /** Common table expressions for `total` and `ids`. */
  readonly ctes?: readonly string[];
  readonly total: string;
  /** Query for the ids of the page. It may use the table `total`. */
  readonly ids: string;
  /** True if `ids` returns all columns of the rows. */
  readonly isWhole?: boolean;
  /** Columns of each row, including those in `order`. */
  readonly columns: string;
  readonly table: string;
  readonly order: Order;
}

/** Statement that returns each row of the page with the total. A page past the end is one row without an id. */
export function listStatement(list: ListStatement): string {
  const { ctes = [], total, ids, isWhole, columns, table, order } = list;
  const parts = [
    ...ctes,
    `total as materialized (select ${total}::bigint as total)`,
    `page as materialized (${ids})`,
  ];
  const items = isWhole
    ? 'page as item'
    : `(
    page cross join lateral (
      select ${columns} from ${table} where ${table}.id = page.id offset 0) as item)`;
  return `
with ${parts.join(',\n  ')}
select total.total, item.*
  from total left join ${items} on true
 order by ${orderBy(order, 'item')}`;
}

export interface WithTotal {
  readonly total: string;
}

export function pageOf<Row extends { readonly id: string }, Item>(
  rows: readonly (Row & WithTotal)[],
  itemOf: (row: Row) => Item,
): Page<Item> {
  const [first] = rows;
  if (!first) throw new Error('A list statement must return a row even for an empty page.');
  const isEmpty = (first.id as string | null) === null;
  return { total: Number(first.total), items: isEmpty ? [] : rows.map(itemOf) };
}
