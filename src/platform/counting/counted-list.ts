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
  listStatement,
  type Order,
  orderBy,
  orderOf,
  type OrderTerm,
  type SortColumn,
  StatementValues,
  where,
} from './counted-list.sql.js';

/** A column by which rows are counted: see CountFold. */
interface CountedColumn<Filter> {
  /** Name of the filter that chooses values of the column. */
  readonly filter: Filter;
  /** PostgreSQL type of the values. */
  readonly type: string;
  /** All possible values, if they are known. */
  readonly all?: readonly string[];
}

/** Adds the value of a filter to the statement and returns its condition. */
type FilterSql = (value: never, values: StatementValues) => string;

interface CountedList<Counted extends string, Other extends string, Field extends string> {
  readonly table: string;
  readonly columns: string;
  /** Columns that only `sorts` uses. They are read only if the request sorts by them. */
  readonly sortColumns?: readonly string[];
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

type ListRequest<Filter extends string, Field extends string> = PageRequest & {
  readonly sort: readonly Sort<Field>[];
} & { readonly [Name in Filter]?: unknown };

interface ListQuery {
  readonly statement: Statement;
  readonly values: unknown[];
}

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

/** False for a page past the end, so that such a page reads no rows. */
const beforeEndOf = (skip: string) => `(select total from total) > ${skip}`;

const conditionsOf = (chosen: Chosen): string[] =>
  [...chosen].map(([column, choice]) => isChosen(column, choice));

/** Returns a function that makes the statement for a page of the list, with the exact total. */
export function countedList<Counted extends string, Other extends string, Field extends string>(
  list: CountedList<Counted, Other, Field>,
): (request: ListRequest<Counted | Other, Field>) => ListQuery {
  const { table, counts, counted, sorts } = list;
  const { sortColumns = [] } = list;
  const always = list.where ? [list.where] : [];
  const filters = Object.entries(list.filters) as [Other, FilterSql][];
  const names = new Map<string, string>();

  return (request) => {
    const { page, per_page: take, sort } = request;
    const values = new StatementValues();
    const chosen = chosenIn(request, values);
    const others = filters.flatMap(([name, sql]) =>
      request[name] === undefined ? [] : [sql(request[name] as never, values)],
    );
    const order = orderOf(sort, sorts);
    const offset = (page - 1) * take;
    const bound = boundFor(offset + take);
    const skip = values.add(offset, 'bigint');
    const conditions = [...always, ...conditionsOf(chosen), ...others];
    const sorted = order.map(({ column }) => column).filter((name) => sortColumns.includes(name));
    const columns = [list.columns, ...sorted].join(', ');
    const pageSql =
      bound === FIRST_BOUND &&
      conditions.length === always.length &&
      order[0].column === BY_ID.column
        ? wholePage(order[0].direction, columns, { skip, take, bound })
        : pageOf(order, chosen, others, { skip, take, bound });
    const text = listStatement({
      ctes: pageSql.ctes,
      total:
        others.length > 0
          ? `(select count(*) from ${table}${where(conditions)})`
          : countOf(counts, conditionsOf(chosen)),
      ids: pageSql.ids,
      columns,
      isWhole: pageSql.isWhole,
      table,
      order,
    });
    const isUsual =
      pageSql.isPlannable &&
      bound === FIRST_BOUND &&
      USUAL_SIZES.has(take) &&
      sort.length === 1 &&
      others.length === 0 &&
      [...chosen.values()].every(({ each }) => each.length <= USUAL_CHOICES);
    return { statement: { name: isUsual ? nameOf(text) : '', text }, values: values.all };
  };

  function chosenIn(request: ListRequest<Counted, Field>, values: StatementValues): Chosen {
    return new Map(
      Object.entries(counted).flatMap(([column, { filter, type, all }]) => {
        const wanted = request[filter] as readonly string[] | undefined;
        const choice = choiceOf(wanted, type, values, all?.length);
        return choice ? [[column, choice] as const] : [];
      }),
    );
  }

  function nameOf(text: string): string {
    let name = names.get(text);
    if (name === undefined && names.size < MOST_NAMES) {
      names.set(text, (name = `${table}_list_${names.size + 1}`));
    }
    return name ?? '';
  }

  function pageOf(
    order: Order,
    chosen: Chosen,
    others: readonly string[],
    window: PageWindow,
  ): PageSql {
    const { skip, take, bound } = window;
    const conditions = [...always, ...conditionsOf(chosen), ...others];
    const [{ column, direction, nullable }] = order;
    const beforeEnd = beforeEndOf(skip);
    if (column === BY_ID.column && (chosen.size > 0 || others.length === 0)) {
      const ids = idsOf(chosen, others, direction, bound);
      if (ids) {
        return {
          ids: `select id from (${ids}) as ordered where ${beforeEnd} order by id ${direction} offset ${skip} limit ${take}`,
          isPlannable: true,
        };
      }
    } else if (nullable) {
      return { ...datedPage(order, conditions, window), isPlannable: false };
    } else if (column in counted && others.length === 0) {
      const grouped = groupedPage(order, chosen, window);
      if (grouped) return { ...grouped, isPlannable: true };
    }
    return {
      ids: `select id from ${table}${where([...conditions, beforeEnd])} order by ${orderBy(order)} offset ${skip} limit ${take}`,
      isPlannable: false,
    };
  }

  /** Query for an early page of the unfiltered list. Reads whole rows directly, instead of ids first. */
  function wholePage(
    direction: Direction,
    columns: string,
    { skip, take, bound }: PageWindow,
  ): PageSql {
    const inOrder = `order by id ${direction}`;
    return {
      ids: `
    select * from (select ${columns} from ${table}${where(always)} ${inOrder} limit ${bound}) as ordered
     where ${beforeEndOf(skip)} ${inOrder} offset ${skip} limit ${take}`,
      isPlannable: true,
      isWhole: true,
    };
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
    const filtered = rest.map(([column, choice]) => isChosen(column, choice));
    return index.reduce<string[][]>(
      (ranges, column) =>
        ranges.flatMap((range) =>
          valuesOf(column, chosen).map((value) => [...range, `${column} = ${value}`]),
        ),
      [filtered],
    );
  }

  function valuesOf(column: string, chosen: Chosen): readonly string[] {
    const { all = [], type } = counted[column]!;
    return chosen.get(column)?.each ?? all.map((value) => `'${value}'::${type}`);
  }

  /**
   * Query for a page sorted by a nullable time such as triaged_at, with nulls last. Reads the rows with a time, then
   * the rows without a time if the page is not full, each part in the order of an index.
   */
  function datedPage(
    [dated, ...others]: Order,
    conditions: readonly string[],
    { skip, take, bound }: PageWindow,
  ): PageIds {
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
  ): PageIds | undefined {
    const end = order.findIndex(({ column }) => !(column in counted));
    const [groupedBy, rest] = [order.slice(0, end), order.slice(end)];
    const ids = idsOfGroup(groupedBy, rest, chosen, bound);
    if (!ids) return undefined;
    const columns = groupedBy.map(({ column }) => column).join(', ');
    const matching = where(conditionsOf(chosen));
    const inOrder = orderBy(groupedBy);
    return {
      ctes: [
        `counted as (
    select ${columns}, n from ${counts}_counts${matching}
    union all
    select ${columns}, n from ${counts}_count_deltas${matching})`,
        `groups as materialized (
    select ${columns}, n, sum(n) over (order by ${inOrder} rows between unbounded preceding and current row) - n as before
      from (select ${columns}, sum(n) as n from counted group by ${columns} having sum(n) > 0) as summed)`,
        `visited as materialized (
    select ${columns}, before from groups
     where before + n > ${skip} and before < ${skip} + ${take} order by ${inOrder})`,
      ],
      ids: `
    select found.id from visited cross join lateral (
      select ${columnsOf(rest)} from (${ids}) as ordered order by ${orderBy(rest)}
      offset greatest(${skip} - visited.before, 0)::bigint limit ${take}) as found
     order by ${orderBy(groupedBy, 'visited')}, ${orderBy(rest, 'found')} limit ${take}`,
    };
  }

  /** Query for the first ids of the visited combination, in the order of the other columns. */
  function idsOfGroup(
    groupedBy: readonly OrderTerm[],
    rest: readonly OrderTerm[],
    chosen: Chosen,
    bound: number,
  ): string | undefined {
    const visited = groupedBy.map(
      ({ column }) => [column, { each: [`visited.${column}`] }] as const,
    );
    const group = new Map([...chosen, ...visited]);
    const [first] = rest;
    if (first?.column === BY_ID.column) return idsOf(group, [], first.direction, bound);
    return `select ${columnsOf(rest)} from ${table}${where([...always, ...conditionsOf(group)])}
        order by ${orderBy(rest)} limit ${bound}`;
  }
}

/** Query for the ids of a page, with its common table expressions. */
interface PageIds {
  readonly ctes?: readonly string[];
  readonly ids: string;
}

interface PageSql extends PageIds {
  readonly isPlannable: boolean;
  readonly isWhole?: boolean;
}

interface PageWindow {
  /** Parameter of the offset. */
  readonly skip: string;
  /** A literal, like `bound`, because the planner must know the value. */
  readonly take: number;
  /** At least the number of rows up to the end of the page. */
  readonly bound: number;
}
