import {
  BY_ID,
  type Choice,
  choiceOf,
  columnsOf,
  exactTotal,
  idsInOrder,
  isChosen,
  listStatement,
  type Order,
  orderBy,
  orderOf,
  type SortColumn,
  StatementValues,
  where,
} from '../../platform/counting/counted-list.sql.js';
import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { endIdBefore, firstIdAfter } from '../../platform/paging/id-times.js';
import { ACTION_COLUMNS } from '../records/action-rows.js';
import { ACTION_STATUSES } from '../action.js';
import type { ActionCountEntity } from './action-count.entity.js';
import type { ActionFilter, ActionListRequest, SortField } from './action-list.js';

export interface ListQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

const SORT_COLUMNS: Readonly<Record<SortField, SortColumn>> = {
  requested_at: BY_ID,
  created_at: BY_ID,
  executed_at: { column: 'executed_at', nullable: true },
  status: { column: 'status' },
  action_type: { column: 'action_type' },
};

/** What actions are counted by. */
type Dimension = Exclude<keyof ActionCountEntity, 'n'>;
type ChosenValues = readonly (readonly [Dimension, Choice])[];

/** One statement that yields a page and the exact total: see listStatement. */
export function listQuery({ filter, sort, page, per_page }: ActionListRequest): ListQuery {
  const values = new StatementValues();
  const chosen = chosenValues(filter, values);
  const chosenConditions = chosen.map(([dimension, choice]) => isChosen(dimension, choice));
  const narrow = narrowConditions(filter, values);
  const conditions = [...chosenConditions, ...narrow];
  const order = orderOf(sort, SORT_COLUMNS);
  const offset = (page - 1) * per_page;
  const end = offset + per_page;
  const first =
    narrow.length > 0 ? firstOf(order, conditions, end) : candidates(order, chosen, end);
  const text = listStatement({
    total:
      narrow.length > 0
        ? `(select count(*) from actions${where(conditions)})`
        : countOf(chosenConditions),
    ids: `
    select id from (${first}) as candidate order by ${orderBy(order)}
    offset ${values.add(offset, 'bigint')} limit ${per_page}`,
    columns: ACTION_COLUMNS,
    table: 'actions',
    order,
  });
  return { text, values: values.all };
}

/** The first actions of such an order, of which the page is the end. */
function firstOf(order: Order, conditions: readonly string[], end: number): string {
  return `select ${columnsOf(order)} from actions${where(conditions)}
          order by ${orderBy(order)} limit ${end}`;
}

/** The same from all actions, or all of some values, of which there may be any number. */
function candidates(order: Order, chosen: ChosenValues, end: number): string {
  const [{ column, direction }, next] = order;
  if (column === BY_ID.column) return idsInOrder('actions', rangesOf(chosen), direction, end);
  const conditions = chosen.map(([dimension, choice]) => isChosen(dimension, choice));
  const isIndexed = next?.column === BY_ID.column && next.direction === direction;
  if (isIndexed || !isKnown(column)) return firstOf(order, conditions, end);
  // An index has the actions of one value in their order, and none has all of them in an order that turns round in between.
  const [, choice] = chosen.find(([dimension]) => dimension === column) ?? [];
  const values = choice?.each ?? KNOWN_VALUES[column].map((value) => `'${value}'`);
  const ranges = values.map(
    (value) => `(${firstOf(order, [...conditions, `${column} = ${value}`], end)})`,
  );
  return ranges.join(' union all ');
}

const KNOWN_VALUES = { status: ACTION_STATUSES, action_type: ACTION_TYPES } as const;

const isKnown = (column: string): column is keyof typeof KNOWN_VALUES =>
  Object.hasOwn(KNOWN_VALUES, column);

/** How many actions fulfil conditions on the dimensions. */
export function countOf(conditions: readonly string[]): string {
  return exactTotal(
    { table: 'action_counts', conditions },
    { table: 'action_count_deltas', conditions },
  );
}

function chosenValues(
  { statuses, types, levels }: ActionFilter,
  values: StatementValues,
): ChosenValues {
  const choices = [
    ['status', choiceOf(statuses, 'text', values)],
    ['action_type', choiceOf(types, 'text', values)],
    ['approval_level', choiceOf(levels, 'text', values)],
  ] as const;
  return choices.flatMap(([dimension, choice]) => (choice ? [[dimension, choice] as const] : []));
}

/**
 * Actions of one incident or one principal, or in a range of time, are few: an index finds them, so they are counted as
 * they are. All others are counted as they change: see ActionCounts.
 */
function narrowConditions(filter: ActionFilter, values: StatementValues): string[] {
  const { incidentId, requestedBy, approvedBy, executedAfter } = filter;
  const { createdAfter, createdBefore } = filter;
  return [
    ...(incidentId === undefined ? [] : [`incident_id = ${values.add(incidentId, 'uuid')}`]),
    ...(requestedBy === undefined ? [] : [`requested_by = ${values.add(requestedBy, 'text')}`]),
    ...(approvedBy === undefined ? [] : [`approved_by = ${values.add(approvedBy, 'text')}`]),
    // An id begins with requested_at.
    ...(createdAfter === undefined
      ? []
      : [`id >= ${values.add(firstIdAfter(createdAfter), 'uuid')}`]),
    ...(createdBefore === undefined
      ? []
      : [`id < ${values.add(endIdBefore(createdBefore), 'uuid')}`]),
    ...(executedAfter === undefined
      ? []
      : [`executed_at > ${values.add(executedAfter, 'timestamptz')}`]),
  ];
}

/** One range of an index for each value of the first dimension, so that a rare value is found without a search. */
function rangesOf([first, ...others]: ChosenValues): string[][] {
  if (!first) return [[]];
  const [dimension, { each }] = first;
  const rest = others.map(([other, choice]) => isChosen(other, choice));
  return each.map((value) => [`${dimension} = ${value}`, ...rest]);
}
