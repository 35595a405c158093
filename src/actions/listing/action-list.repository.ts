// SQL: a list is one statement with its exact total, and the fold is one over all deltas.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Page, PageRequest, Sort } from '../../platform/paging/page.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { foldStatement, SimpleCounts } from '../../platform/counting/count-fold.js';
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
  pageOf,
  type SortColumn,
  StatementValues,
  where,
  type WithTotal,
} from '../../platform/counting/counted-list.sql.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { type Action, ACTION_STATUSES, type ActionStatus, type RequiredLevel } from '../action.js';
import { endIdBefore, firstIdAfter, firstIdAt } from '../../platform/ids.js';
import {
  ACTION_COLUMNS,
  type ActionCountEntity,
  actionOf,
  type ActionRow,
} from '../action.entity.js';
import { AdvisoryLock } from '../../platform/database/advisory-locks.js';
import { ScrapedGauges } from '../../platform/metrics/scraped-gauges.js';
import { InjectMetric } from '@willsoto/nestjs-prometheus';
import { Gauge } from 'prom-client';
import { ACTION_TYPES, type ActionTypeName } from '../../action-catalogue/action-types.js';

export const SORT_FIELDS = [
  'requested_at',
  'created_at',
  'updated_at',
  'executed_at',
  'status',
  'action_type',
] as const;
export type SortField = (typeof SORT_FIELDS)[number];

interface ActionFilter {
  readonly statuses?: readonly ActionStatus[];
  readonly types?: readonly ActionTypeName[];
  readonly levels?: readonly RequiredLevel[];
  readonly incidentId?: string;
  readonly requestedBy?: string;
  readonly approvedBy?: string;
  /** ISO 8601: requested strictly after, strictly before. */
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  /** Strictly after. */
  readonly executedAfter?: Date;
  readonly updatedAfter?: Date;
}

export interface ActionListRequest extends PageRequest {
  readonly filter: ActionFilter;
  readonly sort: readonly Sort<SortField>[];
}

export interface ListQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

const SORT_COLUMNS: Readonly<Record<SortField, SortColumn>> = {
  requested_at: BY_ID,
  created_at: BY_ID,
  updated_at: { column: 'updated_at' },
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
    columns: `${ACTION_COLUMNS}, actions.updated_at`,
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
  const { incidentId, requestedBy, approvedBy, executedAfter, updatedAfter } = filter;
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
    ...(updatedAfter === undefined
      ? []
      : [`updated_at > ${values.add(updatedAfter, 'timestamptz')}`]),
  ];
}

/** One range of an index for each value of the first dimension, so that a rare value is found without a search. */
function rangesOf([first, ...others]: ChosenValues): string[][] {
  if (!first) return [[]];
  const [dimension, { each }] = first;
  const rest = others.map(([other, choice]) => isChosen(other, choice));
  return each.map((value) => [`${dimension} = ${value}`, ...rest]);
}

const COUNT_WAITING: Statement = {
  name: 'actions_count_waiting',
  text: `select ${countOf([`status = 'pending_approval'`])}::integer as n`,
};

const OLDEST_WAITING: Statement = {
  name: 'actions_oldest_waiting',
  text: `select greatest(0, extract(epoch from clock_timestamp() - min(requested_at)))::float8 as seconds
    from actions where status = 'pending_approval'`,
};

const LIST_AFTER: Statement = {
  name: 'actions_list_after',
  text: `select ${ACTION_COLUMNS} from actions where actions.id > $1 order by actions.id limit $2`,
};

const FIND_ALL: Statement = {
  name: 'actions_find_all',
  text: `select ${ACTION_COLUMNS} from actions where actions.id = any($1::uuid[])`,
};

const FOLD = foldStatement('action', ['status', 'action_type', 'approval_level']);

@Injectable()
export class ActionListRepository {
  constructor(private readonly statements: Statements) {}

  async list(request: ActionListRequest): Promise<Page<Action>> {
    const { text, values } = listQuery(request);
    const rows = await this.statements.rows<ActionRow & WithTotal>({ name: '', text }, [...values]);
    return pageOf(rows, actionOf);
  }

  /** Oldest first, those after the given id. */
  async listAfter(id: string | null, limit: number): Promise<Action[]> {
    const rows = await this.statements.rows<ActionRow>(LIST_AFTER, [id ?? firstIdAt(0), limit]);
    return rows.map(actionOf);
  }

  async findAll(ids: readonly string[]): Promise<Action[]> {
    const rows = await this.statements.rows<ActionRow>(FIND_ALL, [ids]);
    return rows.map(actionOf);
  }

  async countWaitingForApproval(): Promise<number> {
    const [row] = await this.statements.rows<{ n: number }>(COUNT_WAITING);
    return row?.n ?? 0;
  }

  /** For how long the oldest has waited; 0 when none does. */
  async oldestWaitingSeconds(): Promise<number> {
    const [row] = await this.statements.rows<{ seconds: number }>(OLDEST_WAITING);
    return row?.seconds ?? 0;
  }

  /** Adds at most `limit` deltas to the sums; answers how many those were. */
  async fold(tx: Tx, limit: number): Promise<number> {
    const [row] = await this.statements.rowsIn<{ n: number }>(tx, FOLD, [limit]);
    return row?.n ?? 0;
  }
}

/** Keeps the totals of the list of actions cheap, and tells the metrics how many wait for approval, and for how long. */
@Injectable()
export class ActionCounts extends SimpleCounts implements OnModuleInit {
  constructor(
    private readonly actions: ActionListRepository,
    transactions: Transactions,
    @InjectMetric('approvals_pending') private readonly approvalsPending: Gauge,
    @InjectMetric('approvals_oldest_seconds') private readonly oldestApproval: Gauge,
    private readonly gauges: ScrapedGauges,
  ) {
    super(actions, transactions, AdvisoryLock.ActionCounts, 'actions');
  }

  onModuleInit(): void {
    this.gauges.register(this.approvalsPending, () => this.actions.countWaitingForApproval());
    this.gauges.register(this.oldestApproval, () => this.actions.oldestWaitingSeconds());
  }
}
