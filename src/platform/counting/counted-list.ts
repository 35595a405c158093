// SQL: a list is one statement with its exact total, whose text PostgreSQL must be able to plan as index ranges.
import type { PageRequest, Sort } from '../paging/page.js';
import type { Statement } from '../database/statements.js';
import { endIdBefore, endMs, firstIdAfter, wholeMs } from '../ids.js';
import {
  BY_ID,
  type Choice,
  choiceOf,
  columnsOf,
  countOf,
  type Direction,
  idsInOrder,
  isChosen,
  type ListStatement,
  listStatement,
  type Order,
  orderBy,
  orderOf,
  type SortColumn,
  StatementValues,
  where,
} from './counted-list.sql.js';

/** Adds the value of a filter to the statement and returns its condition. */
type FilterSql = (value: never, values: StatementValues) => string;

interface CountedList<Counted extends string, Other extends string, Field extends string> {
  readonly table: string;
  readonly columns: string;
  /** Condition of every list, such as `deleted_at is null`. */
  readonly where?: string;
  /** `<counts>_counts` and `<counts>_count_deltas` have the counted columns: see CountFold. */
  readonly counts: string;
  readonly counted: Readonly<Record<string, CountedColumn<Counted>>>;
  /** Lists of counted columns. Each list begins an index that ends with the id. The first suitable index is used. */
  readonly indexes: readonly (readonly string[])[];
  /** Filters on columns without counts. Each request counts the matching rows. */
  readonly filters: Readonly<Record<Other, FilterSql>>;
  readonly sorts: Readonly<Record<Field, SortColumn>>;
}

interface CountedColumn<Filter> {
  /** Name of the filter that chooses values of the column. */
  readonly filter: Filter;
  /** PostgreSQL type of the values. */
  readonly type: string;
  /** All possible values, if they are known. */
  readonly all?: readonly string[];
}

type ListRequest<Filter extends string, Field extends string> = PageRequest & {
  readonly sort: readonly Sort<Field>[];
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

/** The id begins with the time of creation. */
export const createdAfter: FilterSql = (time: string, values) =>
  `id >= ${values.add(firstIdAfter(time), 'uuid')}`;
export const createdBefore: FilterSql = (time: string, values) =>
  `id < ${values.add(endIdBefore(time), 'uuid')}`;

/** Maximum number of merged ranges. Sorting is cheaper than merging more ranges. */
const MOST_RANGES = 36;
/** Minimum bound, so that the first pages share one statement. */
const FIRST_BOUND = 256;
const USUAL_SIZES = new Set([10, 20, 25, 50, 100]);
const USUAL_CHOICES = 2;
/** Maximum number of named statements. Every connection keeps the plans of all of them. */
const MOST_NAMES = 200;

/** Returns the next power of four, so that a few statements serve all pages. The planner needs a literal. */
function boundFor(rows: number): number {
  let bound = FIRST_BOUND;
  while (bound < rows) bound *= 4;
  return bound;
}

type Chosen = ReadonlyMap<string, Choice>;

const conditionsOf = (chosen: Chosen): string[] =>
  [...chosen].map(([column, choice]) => isChosen(column, choice));

/** Query for a page, with its common table expressions. */
interface PageSql extends Pick<ListStatement, 'ctes' | 'ids' | 'isWhole'> {
  /** True if one plan fits all values of the parameters. */
  readonly isPlannable?: boolean;
}

interface PageWindow {
  /** Parameter of the offset. */
  readonly skip: string;
  /** A literal, like `bound`, because the planner must know the value. */
  readonly take: number;
  /** At least the number of rows up to the end of the page. */
  readonly bound: number;
}

/** Returns a function that makes the statement for a page of the list, with the exact total. */
export function countedList<Counted extends string, Other extends string, Field extends string>(
  list: CountedList<Counted, Other, Field>,
) {
  const { table, columns, counts, counted, sorts } = list;
  const always = list.where ? [list.where] : [];
  const filters = Object.entries(list.filters) as [Other, FilterSql][];
  const names = new Map<string, string>();

  return (request: ListRequest<Counted | Other, Field>) => {
    const { page, per_page: take, sort } = request;
    const values = new StatementValues();
    const chosen = new Map<string, Choice>();
    for (const [column, { filter, type, all }] of Object.entries(counted)) {
      const wanted = request[filter] as readonly string[] | undefined;
      const choice = choiceOf(wanted, type, values, all?.length);
      if (choice) chosen.set(column, choice);
    }
    const others = filters.flatMap(([name, sql]) =>
      request[name] === undefined ? [] : [sql(request[name] as never, values)],
    );
    const order = orderOf(sort, sorts);
    const offset = (page - 1) * take;
    const bound = boundFor(offset + take);
    const window = { skip: values.add(offset, 'bigint'), take, bound };
    const { isPlannable, ...pageSql } = pageOf(order, chosen, others, window);
    const conditions = conditionsOf(chosen);
    const total =
      others.length > 0
        ? `(select count(*) from ${table}${where([...always, ...conditions, ...others])})`
        : countOf(counts, conditions);
    const text = listStatement({ ...pageSql, total, columns, table, order });
    const isUsual =
      isPlannable &&
      bound === FIRST_BOUND &&
      USUAL_SIZES.has(take) &&
      sort.length === 1 &&
      others.length === 0 &&
      [...chosen.values()].every(({ each }) => each.length <= USUAL_CHOICES);
    const statement: Statement = { name: isUsual ? nameOf(text) : '', text };
    return { statement, values: values.all };
  };

  function nameOf(text: string): string {
    const unused = names.size < MOST_NAMES ? `${table}_list_${names.size + 1}` : '';
    const name = names.get(text) ?? unused;
    if (name !== '') names.set(text, name);
    return name;
  }

  function pageOf(
    order: Order,
    chosen: Chosen,
    others: readonly string[],
    window: PageWindow,
  ): PageSql {
    const { skip, take, bound } = window;
    const [{ column, direction, nullable }] = order;
    const conditions = [...always, ...conditionsOf(chosen), ...others];
    // A page past the end reads no rows.
    const beforeEnd = `(select total from total) > ${skip}`;
    const inOrder = `order by id ${direction}`;
    if (column === BY_ID.column && (chosen.size > 0 || others.length === 0)) {
      if (chosen.size === 0 && bound === FIRST_BOUND) {
        // Reads whole rows at once, instead of ids first.
        const ids = `
    select * from (select ${columns} from ${table}${where(always)} ${inOrder} limit ${bound}) as ordered
     where ${beforeEnd} ${inOrder} offset ${skip} limit ${take}`;
        return { ids, isPlannable: true, isWhole: true };
      }
      const first = idsOf(chosen, others, direction, bound);
      if (first) {
        const ids = `select id from (${first}) as ordered where ${beforeEnd} ${inOrder} offset ${skip} limit ${take}`;
        return { ids, isPlannable: true };
      }
    }
    if (nullable) return datedPage(order, conditions, window);
    const grouped = column in counted && others.length === 0 && groupedPage(order, chosen, window);
    return (
      grouped || {
        ids: `select id from ${table}${where([...conditions, beforeEnd])} order by ${orderBy(order)} offset ${skip} limit ${take}`,
      }
    );
  }

  /** Query that merges index ranges for the first ids, or `undefined` if there are too many ranges. */
  function idsOf(
    chosen: Chosen,
    others: readonly string[],
    direction: Direction,
    bound: number,
  ): string | undefined {
    const ranges = rangesOf(chosen);
    if (ranges.length > MOST_RANGES) return undefined;
    const conditions = ranges.map((range) => [...always, ...range, ...others]);
    return idsInOrder(table, conditions, direction, bound);
  }

  /** Returns one index range for each combination of values. Conditions on other columns are filters. */
  function rangesOf(chosen: Chosen): string[][] {
    if (chosen.size === 0) return [[]];
    // The index must contain each chosen column with few values; otherwise most entries read do not match.
    const known = [...chosen.keys()].filter((column) => counted[column]!.all);
    const index = list.indexes.find(
      ([first, ...more]) =>
        (chosen.has(first!) || counted[first!]!.all) &&
        known.every((column) => [first, ...more].includes(column)),
    )!;
    const rest = [...chosen].filter(([column]) => !index.includes(column));
    return index.reduce<string[][]>(
      (ranges, column) => {
        const { all = [], type } = counted[column]!;
        const each = chosen.get(column)?.each ?? all.map((value) => `'${value}'::${type}`);
        return ranges.flatMap((range) => each.map((value) => [...range, `${column} = ${value}`]));
      },
      [conditionsOf(new Map(rest))],
    );
  }

  /**
   * Query for a page sorted by a nullable time such as triaged_at, with nulls last. Reads the rows with a time, then
   * the rows without a time if the page is not full, each part in the order of an index.
   */
  function datedPage(
    [dated, ...others]: Order,
    conditions: readonly string[],
    { skip, take, bound }: PageWindow,
  ): PageSql {
    const part = (...more: string[]) =>
      `select ${columnsOf([dated, ...others])} from ${table}${where([...conditions, ...more])}`;
    const { column } = dated;
    return {
      ctes: [
        `dated as materialized (
    ${part(`${column} is not null`)}
     order by ${orderBy([{ ...dated, nullable: undefined }, ...others])} limit ${bound})`,
        `undated as materialized (
    ${part(`${column} is null`, `(select count(*) from dated) < ${bound}`)}
     order by ${orderBy(others)} limit ${bound})`,
      ],
      ids: `
    select id from (select * from dated union all select * from undated) as either
     order by ${orderBy([dated, ...others])} offset ${skip} limit ${take}`,
    };
  }

  /**
   * Query for a page sorted by counted columns first. Reads one combination of values after another, each in the order
   * of the other columns. The counts show which combinations are on the page, so earlier combinations are skipped.
   */
  function groupedPage(
    order: Order,
    chosen: Chosen,
    { skip, take, bound }: PageWindow,
  ): PageSql | undefined {
    const end = order.findIndex(({ column }) => !(column in counted));
    const [groupedBy, rest] = [order.slice(0, end), order.slice(end)];
    const group: Chosen = new Map([
      ...chosen,
      ...groupedBy.map(({ column }) => [column, { each: [`visited.${column}`] }] as const),
    ]);
    const firstIds =
      rest[0]!.column === BY_ID.column
        ? idsOf(group, [], rest[0]!.direction, bound)
        : `select ${columnsOf(rest)} from ${table}${where([...always, ...conditionsOf(group)])}
        order by ${orderBy(rest)} limit ${bound}`;
    if (!firstIds) return undefined;
    const names = groupedBy.map(({ column }) => column).join(', ');
    const matching = where(conditionsOf(chosen));
    const inOrder = orderBy(groupedBy);
    return {
      ctes: [
        `counted as (
    select ${names}, n from ${counts}_counts${matching}
    union all
    select ${names}, n from ${counts}_count_deltas${matching})`,
        `groups as materialized (
    select ${names}, n, sum(n) over (order by ${inOrder} rows between unbounded preceding and current row) - n as before
      from (select ${names}, sum(n) as n from counted group by ${names} having sum(n) > 0) as summed)`,
        `visited as materialized (
    select ${names}, before from groups
     where before + n > ${skip} and before < ${skip} + ${take} order by ${inOrder})`,
      ],
      ids: `
    select found.id from visited cross join lateral (
      select ${columnsOf(rest)} from (${firstIds}) as ordered order by ${orderBy(rest)}
      offset greatest(${skip} - visited.before, 0)::bigint limit ${take}) as found
     order by ${orderBy(groupedBy, 'visited')}, ${orderBy(rest, 'found')} limit ${take}`,
      isPlannable: true,
    };
  }
}
