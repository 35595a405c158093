// SQL: one statement reads a page and its exact total. PostgreSQL must be able to plan it as ranges of indexes.
import { hash } from 'node:crypto';
import type { Statement, Statements } from '../database/statements.js';
import { endIdBefore, endMs, firstIdAfter, wholeMs } from '../ids.js';
import {
  type Page,
  type PageRequest,
  sortField,
  type SortWord,
  USUAL_PER_PAGE,
} from '../paging/page.js';

type Direction = 'asc' | 'desc';

export class StatementValues {
  readonly all: unknown[] = [];

  add(value: unknown, type: string): string {
    return `$${this.all.push(value)}::${type}`;
  }
}

const where = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;

/* Triggers append count changes, and `foldCounts` moves them to the totals. A list sums both for an exact total. */

export function countOf(counts: string, conditions: readonly string[]): string {
  const sumOf = (table: string) => `(select coalesce(sum(n), 0) from ${table}${where(conditions)})`;
  return `(${sumOf(`${counts}_counts`)} + ${sumOf(`${counts}_count_deltas`)})`;
}

const DELTAS_PER_FOLD = 10_000;

const folds: Statement[] = [];

/** Works in batches. Concurrent calls are safe, because each count change is deleted once. */
export async function foldCounts(statements: Statements): Promise<void> {
  for (const fold of folds) {
    let folded = DELTAS_PER_FOLD;
    while (folded === DELTAS_PER_FOLD) {
      folded = (await statements.rows<{ n: number }>(fold, [DELTAS_PER_FOLD]))[0]!.n;
    }
  }
}

function foldOf(counts: string, columns: string): Statement {
  const [sums, deltas] = [`${counts}_counts`, `${counts}_count_deltas`];
  return {
    name: `${counts}_fold_counts`,
    text: `
    with folded as (
      delete from ${deltas} where id <= (
        select max(id) from (select id from ${deltas} order by id limit $1) as oldest)
      returning ${columns}, n),
    kept as (
      insert into ${sums} (${columns}, n) select ${columns}, sum(n) from folded group by ${columns}
      on conflict on constraint pk_${sums} do update set n = ${sums}.n + excluded.n)
    select count(*)::integer as n from folded`,
  };
}

interface ListStatement {
  readonly ctes?: readonly string[];
  readonly total: string;
  readonly ids: string;
  /** Columns of each row. They must include the columns in `order`. */
  readonly columns: string;
  readonly table: string;
  readonly order: string;
}

/** For a page past the end, the statement returns one row with the total but without an id. */
export const listStatement = ({ ctes = [], total, ids, columns, table, order }: ListStatement) => `
with ${[
  ...ctes,
  `total as materialized (select ${total}::bigint as total)`,
  `page as materialized (${ids})`,
].join(',\n  ')}
select total.total, item.*
  from total left join (
    page cross join lateral (
      select ${columns} from ${table} where ${table}.id = page.id offset 0) as item) on true
 order by ${order}`;

export interface WithTotal {
  readonly total: string;
}

export interface ListQuery {
  readonly statement: Statement;
  readonly values: unknown[];
}

export async function readPage<Row extends object>(
  statements: Statements,
  { statement, values }: ListQuery,
): Promise<Page<Row>> {
  return pageOf(await statements.rows<Row & WithTotal>(statement, values));
}

export function pageOf<Row extends object>(rows: readonly (Row & WithTotal)[]): Page<Row> {
  const [first] = rows;
  if (!first) throw new Error('A list statement must return a row even for an empty page.');
  const isEmpty = (first as { readonly id?: unknown }).id === null;
  return { total: Number(first.total), items: isEmpty ? [] : rows };
}

interface SortColumn {
  readonly column: string;
  readonly unique?: true;
  readonly nullable?: true;
}

export const BY_ID: SortColumn = { column: 'id', unique: true };

interface OrderTerm extends SortColumn {
  readonly direction: Direction;
}

/** Rows with equal values are ordered by id. Omits fields after a unique column, because they have no effect. */
function orderOf<Field extends string>(
  words: readonly SortWord<Field>[],
  columns: Readonly<Record<Field, SortColumn>>,
): OrderTerm[] {
  const terms = words.map((word): OrderTerm => ({
    ...columns[sortField(word) as Field],
    direction: word.startsWith('-') ? 'desc' : 'asc',
  }));
  const unique = terms.findIndex((term) => term.unique);
  if (unique >= 0) return terms.slice(0, unique + 1);
  return [...terms, { ...BY_ID, direction: terms.at(-1)?.direction ?? 'desc' }];
}

const columnsOf = (order: readonly OrderTerm[]): string =>
  [...new Set([...order.map(({ column }) => column), BY_ID.column])].join(', ');

const orderBy = (order: readonly OrderTerm[]): string =>
  order
    .map(({ column, direction, nullable }) =>
      [column, direction, nullable && 'nulls last'].filter(Boolean).join(' '),
    )
    .join(', ');

const within =
  (table: string) =>
  (term: OrderTerm): OrderTerm => ({ ...term, column: `${table}.${term.column}` });

type FilterSql = (value: never, values: StatementValues) => string;

interface CountedList<Counted extends string, Other extends string, Field extends string> {
  readonly table: string;
  readonly columns: string;
  readonly where?: string;
  readonly counts: string;
  /** Columns that have stored counts, in the order that the indexes use. */
  readonly counted: Readonly<Record<string, CountedColumn<Counted>>>;
  /** Filters on columns without stored counts. A request with such a filter counts the matching rows. */
  readonly filters?: Readonly<Record<Other, FilterSql>>;
  readonly sorts: Readonly<Record<Field, SortColumn>>;
}

interface CountedColumn<Filter> {
  readonly filter: Filter;
  readonly type: string;
  /** Another counted column, which each index with this column contains. */
  readonly with?: string;
}

type ListRequest<Filter extends string, Field extends string> = PageRequest & {
  readonly sort: SortWord<Field> | readonly SortWord<Field>[];
} & { readonly [Name in Filter]?: unknown };

export const equal =
  (column: string, type: string): FilterSql =>
  (value: unknown, values) =>
    `${column} = ${values.add(value, type)}`;

export const anyOf =
  (column: string, type: string): FilterSql =>
  (value: readonly string[], values) =>
    `${column} = any(${values.add(value, `${type}[]`)})`;

/** Selects times strictly after an ISO 8601 time. */
export const after =
  (column: string): FilterSql =>
  (time: string, values) =>
    `${column} > ${values.add(new Date(wholeMs(time)), 'timestamptz')}`;

export const before =
  (column: string): FilterSql =>
  (time: string, values) =>
    `${column} < ${values.add(new Date(endMs(time)), 'timestamptz')}`;

/** Compares ids, because an id begins with the time of creation. */
export const createdAfter: FilterSql = (time: string, values) =>
  `id >= ${values.add(firstIdAfter(time), 'uuid')}`;
export const createdBefore: FilterSql = (time: string, values) =>
  `id < ${values.add(endIdBefore(time), 'uuid')}`;

export function countedList<
  Counted extends string,
  Field extends string,
  Other extends string = never,
>(list: CountedList<Counted, Other, Field>) {
  const { table, columns, counts, counted, sorts } = list;
  const always = list.where ? [list.where] : [];
  const filters = Object.entries(list.filters ?? {}) as [Other, FilterSql][];
  folds.push(foldOf(counts, Object.keys(counted).join(', ')));

  return (request: ListRequest<Counted | Other, Field>): ListQuery => {
    const { page, per_page: take } = request;
    const sort = [request.sort].flat() as SortWord<Field>[];
    const offset = (page - 1) * take;
    const values = new StatementValues();
    const chosen = Object.keys(counted).filter((name) => request[counted[name]!.filter]);
    const matching = chosen.map((name) => {
      const { filter, type } = counted[name]!;
      return anyOf(name, type)([request[filter]].flat() as never, values);
    });
    // `coalesce` hides the condition: the planner would expect ten values in an array and never keep a plan.
    const hidden = matching.map((condition) => `coalesce(${condition}, false)`);
    const others = filters.flatMap(([name, sql]) =>
      request[name] === undefined ? [] : [sql(request[name] as never, values)],
    );
    const conditions = [...always, ...matching, ...others];
    const order = orderOf(sort, sorts);
    const most = offset + take;
    // For a page past the end, the statement reads no rows.
    const isReached = `(select total from total) > ${offset}`;
    const groupedBy = order.slice(
      0,
      order.findIndex(({ column }) => !(column in counted)),
    );
    const groups = groupsOf([...chosen, ...groupedBy.map(({ column }) => column)]);
    const isGrouped =
      groups.length > 0 &&
      others.length === 0 &&
      (groupedBy.length > 0 || order[0]!.column === BY_ID.column);
    let from = `${table}${where([...conditions, isReached])} order by ${orderBy(order)}`;
    let ctes: string[] = [];
    if (isGrouped) {
      const rest = order.slice(groupedBy.length);
      const by = [...groupedBy.map(within('each')), ...rest.map(within('first'))];
      from = `${firstOfEach(groups, hidden, rest, most)} where ${isReached} order by ${orderBy(by)}`;
    } else if (order[0]!.nullable) {
      const either = datedAndUndated(order, conditions, most);
      ctes = [either.dated];
      from = `${either.all} where ${isReached} order by ${orderBy(order)}`;
    }
    // Limits are literals, not parameters: with a parameter, the planner would expect a tenth of the table.
    const text = listStatement({
      ctes,
      total:
        others.length > 0
          ? `(select count(*) from ${table}${where(conditions)})`
          : countOf(counts, hidden),
      ids: `
    select id from ${from} offset ${offset} limit ${take}`,
      columns,
      table,
      order: orderBy(order.map(within('item'))),
    });
    // Few statements have a name, because every connection keeps the plans of all named statements.
    const isUsual = page === 1 && take === USUAL_PER_PAGE && sort.length === 1;
    const isNamed = isUsual && (isGrouped || conditions.length === always.length);
    const name = isNamed ? `${table}_list_${hash('sha1', text, 'base64url')}` : '';
    return { statement: { name, text }, values: values.all };
  };

  function groupsOf(wanted: readonly string[]): string[] {
    const all = new Set(wanted.flatMap((name) => [name, counted[name]!.with ?? name]));
    return Object.keys(counted).filter((name) => all.has(name));
  }

  /** `order by` names the leading column, and `any` hides that it is constant, so no plan scans the primary key. */
  function firstOfEach(
    groups: readonly string[],
    matching: readonly string[],
    order: readonly OrderTerm[],
    most: number,
  ): string {
    const [leading, ...rest] = groups as [string, ...string[]];
    const section = [
      ...always,
      `${leading} = any(array[each.${leading}])`,
      ...rest.map((name) => `${name} = each.${name}`),
    ];
    const isIndexed = order[0]!.column === BY_ID.column;
    const by = isIndexed ? [{ ...order[0]!, column: leading }, ...order] : order;
    const combinations = ['counts', 'count_deltas'].map(
      (of) => `select ${groups.join(', ')} from ${counts}_${of}${where(matching)}`,
    );
    return `(${combinations.join(' union ')}) as each
     cross join lateral (
       select ${columnsOf(order)} from ${table}${where(section)}
        order by ${orderBy(by)} limit ${most}) as first`;
  }

  /** Orders by a nullable time. Reads the rows without a time only if the page needs these rows. */
  function datedAndUndated(
    order: readonly OrderTerm[],
    conditions: readonly string[],
    most: number,
  ) {
    const [time, ...rest] = order as [OrderTerm, ...OrderTerm[]];
    const part = (by: readonly OrderTerm[], ...more: readonly string[]) =>
      `select ${columnsOf(order)} from ${table}${where([...conditions, ...more])} order by ${orderBy(by)} limit ${most}`;
    const dated = part([{ ...time, nullable: undefined }, ...rest], `${time.column} is not null`);
    const isWanted = `(select count(*) from dated) < ${most}`;
    const undated = part(rest, `${time.column} is null`, isWanted);
    return {
      dated: `dated as materialized (${dated})`,
      all: `(select * from dated union all (${undated})) as either`,
    };
  }
}
