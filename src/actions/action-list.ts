// SQL: a list is one statement with its exact total.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Statement, Statements } from '../platform/database/statements.js';
import {
  after,
  countedList,
  createdAfter,
  createdBefore,
  equal,
} from '../platform/counting/counted-list.js';
import { BY_ID, countOf } from '../platform/counting/counted-list.sql.js';
import { ACTION_COLUMNS } from './action-rows.js';
import { ScrapedGauges } from '../platform/metrics/scraped-gauges.js';

const ACTION_SORTS = {
  requested_at: BY_ID,
  created_at: BY_ID,
  updated_at: { column: 'updated_at' },
  executed_at: { column: 'executed_at', nullable: true },
  status: { column: 'status' },
  action_type: { column: 'action_type' },
} as const;
export const SORT_FIELDS = Object.keys(ACTION_SORTS) as (keyof typeof ACTION_SORTS)[];

/** The list of actions. Filters have the names of the query parameters. */
export const actionList = countedList({
  table: 'actions',
  columns: ACTION_COLUMNS,
  counts: 'action',
  counted: {
    status: { filter: 'status', type: 'text' },
    action_type: { filter: 'action_type', type: 'text' },
    approval_level: { filter: 'approval_level', type: 'text' },
  },
  indexes: [['status'], ['action_type'], ['approval_level']],
  filters: {
    incident_id: equal('incident_id', 'uuid'),
    requested_by: equal('requested_by', 'text'),
    approved_by: equal('approved_by', 'text'),
    created_after: createdAfter,
    created_before: createdBefore,
    executed_after: after('executed_at'),
    updated_after: after('updated_at'),
  },
  sorts: ACTION_SORTS,
});
export type ActionListRequest = Parameters<typeof actionList>[0];

const COUNT_WAITING: Statement = {
  name: 'actions_count_waiting',
  text: `select ${countOf('action', [`status = 'pending_approval'`])}::integer as n`,
};

/** In seconds. `greatest` ignores the null of no action. */
const LONGEST_WAIT: Statement = {
  name: 'actions_longest_wait',
  text: `select greatest(0, extract(epoch from clock_timestamp() - min(requested_at)))::float8 as n
    from actions where status = 'pending_approval'`,
};

/** Measures how many actions wait for approval, and how long. */
@Injectable()
export class ApprovalGauges implements OnModuleInit {
  constructor(
    private readonly statements: Statements,
    private readonly gauges: ScrapedGauges,
  ) {}

  onModuleInit(): void {
    const read = (statement: Statement) => async () =>
      (await this.statements.rows<{ readonly n: number }>(statement))[0]!.n;
    this.gauges.register('approvals_pending', read(COUNT_WAITING));
    this.gauges.register('approvals_oldest_seconds', read(LONGEST_WAIT));
  }
}
