import type { Page } from '../paging/page.js';
import type { Sort } from '../paging/sort-words.js';

/**
 * What the statement of a list with an exact total is made of. It is one statement, hence one snapshot: the page and the
 * total are of the same moment. Each list writes by itself how its page is found, because its indexes decide that.
 */

export type Direction = 'asc' | 'desc';

/** Collects the values of a statement while its text is written. */
export class StatementValues {
  readonly all: unknown[] = [];

  /** Answers the parameter that stands for the value in the text. */
  add(value: unknown, type: string): string {
    return `$${this.all.push(value)}::${type}`;
  }
}

/** The values that a filter wants of a column, as expressions. */
export interface Choice {
  readonly each: readonly string[];
  /** All of them as an array, where there can be more than one. */
  readonly array?: string;
}

/** No values, or all that there are, choose nothing. */
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

/** `type` is the type of the column where it is not that of the values. */
export function isChosen(column: string, { each, array }: Choice, type?: string): string {
  const cast = (expression: string, to: string) => (type ? `${expression}::${to}` : expression);
  return array
    ? `${column} = any(${cast(array, `${type}[]`)})`
    : `${column} = ${cast(each[0]!, `${type}`)}`;
}

export function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
}

interface Counts {
  readonly table: string;
  readonly conditions: readonly string[];
}

/**
 * What count(*) would give in the same statement: the sums of the fold and the deltas that it has not added yet. See
 * CountFold.
 */
export function exactTotal(sums: Counts, deltas: Counts): string {
  const sumOf = ({ table, conditions }: Counts) =>
    `(select coalesce(sum(n), 0) from ${table}${where(conditions)})`;
  return `(${sumOf(sums)} + ${sumOf(deltas)})`;
}

/**
 * Ids in order, as a merge of ranges of indexes that are each in that order already: PostgreSQL reads from them only as
 * far as the page goes. Each range has an `order by` of its own, without which PostgreSQL does not merge. `bound` is a
 * number in the text, because the planner must know that few rows are wanted: of a parameter it would expect a tenth of
 * the table, and sort.
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

/** The column that a field of `sort` stands for. */
export interface SortColumn {
  readonly column: string;
  readonly unique?: true;
  readonly nullable?: true;
}

export const BY_ID: SortColumn = { column: 'id', unique: true };

export interface OrderTerm extends SortColumn {
  readonly direction: Direction;
}

/** The columns that a list is ordered by. The last one has another value in each row, so that every row has one place. */
export type Order = readonly [OrderTerm, ...OrderTerm[]];

export const byId = (direction: Direction): Order => [{ ...BY_ID, direction }];

/**
 * What the fields of `sort` stand for. Rows that are equal in all of them are ordered by id, in the direction of the last
 * one; what stands behind a unique column decides nothing, and is left out.
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

/** The columns that such an order reads, and the id. */
export const columnsOf = (order: readonly OrderTerm[]): string =>
  [...new Set([...order.map(({ column }) => column), BY_ID.column])].join(', ');

/** A row without a value comes last either way. */
export function orderBy(order: readonly OrderTerm[], table?: string): string {
  const prefix = table ? `${table}.` : '';
  return order
    .map(
      ({ column, direction, nullable }) =>
        `${prefix}${column} ${direction}${nullable ? ' nulls last' : ''}`,
    )
    .join(', ');
}

interface ListStatement {
  /** Common table expressions that `total` and `ids` use. */
  readonly ctes?: readonly string[];
  readonly total: string;
  /** A query of the ids of the page. It may use the table `total`. */
  readonly ids: string;
  /** What is read of each row, with what `order` needs. */
  readonly columns: string;
  readonly table: string;
  readonly order: Order;
}

/** Answers each row of the page with the total; a page past the end is one row that has no id. */
export function listStatement(list: ListStatement): string {
  const { ctes = [], total, ids, columns, table, order } = list;
  const parts = [
    ...ctes,
    `total as materialized (select ${total}::bigint as total)`,
    `page as materialized (${ids})`,
  ];
  return `
with ${parts.join(',\n  ')}
select total.total, item.*
  from total left join (
    page cross join lateral (
      select ${columns} from ${table} where ${table}.id = page.id offset 0) as item) on true
 order by ${orderBy(order, 'item')}`;
}

/** What the statement adds to each row. */
export interface WithTotal {
  readonly total: string;
}

/** The rows of such a statement as a page. */
export function pageOf<Row extends { readonly id: string }, Item>(
  rows: readonly (Row & WithTotal)[],
  itemOf: (row: Row) => Item,
): Page<Item> {
  const [first] = rows;
  if (!first) throw new Error('The statement of a list yields a row even for an empty page.');
  const isEmpty = (first.id as string | null) === null;
  return { total: Number(first.total), items: isEmpty ? [] : rows.map(itemOf) };
}
