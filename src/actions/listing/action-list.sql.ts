import {
  BY_ID,
  type Choice,
  choiceOf,
  directionOf,
  exactTotal,
  idsInOrder,
  isChosen,
  listStatement,
  orderBy,
  type SortColumn,
  StatementValues,
  where,
} from '../../platform/counting/counted-list.sql.js';
import { ACTION_COLUMNS } from '../records/action-rows.js';
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
  const direction = directionOf(sort);
  const order = SORT_COLUMNS[sort.field];
  const offset = (page - 1) * per_page;
  const end = offset + per_page;
  const first =
    order === BY_ID
      ? idsInOrder('actions', narrow.length > 0 ? [conditions] : rangesOf(chosen), direction, end)
      : `select id, ${order.column} from actions${where(conditions)}
          order by ${orderBy(order, direction)} limit ${end}`;
  const text = listStatement({
    total:
      narrow.length > 0
        ? `(select count(*) from actions${where(conditions)})`
        : countOf(chosenConditions),
    ids: `
    select id from (${first}) as candidate order by ${orderBy(order, direction)}
    offset ${values.add(offset, 'bigint')} limit ${per_page}`,
    columns: ACTION_COLUMNS,
    table: 'actions',
    order,
    direction,
  });
  return { text, values: values.all };
}

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
  return [
    ...(incidentId === undefined ? [] : [`incident_id = ${values.add(incidentId, 'uuid')}`]),
    ...(requestedBy === undefined ? [] : [`requested_by = ${values.add(requestedBy, 'text')}`]),
    ...(approvedBy === undefined ? [] : [`approved_by = ${values.add(approvedBy, 'text')}`]),
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
