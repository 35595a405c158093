// SQL: the columns and lists of actions, and the insert of new actions.
import {
  after,
  BY_ID,
  countedList,
  createdAfter,
  createdBefore,
  equal,
} from '../platform/counting/counted-list.js';
import { columnsOf } from '../platform/database/columns.js';
import { RowInsert, type Statement } from '../platform/database/statements.js';
import { type Action, ActionEntity, reportedSender } from './action.js';
import { targetHash } from './duplicate-actions.js';

const COLUMNS = columnsOf(ActionEntity, ['target_hash']);

export const ACTION_COLUMNS = `${COLUMNS.map((column) => `actions.${column}`).join(', ')},
  (select back.id from actions back
    where back.rollback_of = actions.id and back.status not in ('failed', 'rejected')) as rolled_back_by,
  (select json_build_object('incident_number', incidents.incident_number,
                            'incident_type', incidents.incident_type,
                            'title', incidents.title, 'severity', incidents.severity,
                            'status', incidents.status,
                            'message_id', incidents.fields->>'message_id', 'sender', incidents.fields->>'sender')
     from incidents where incidents.id = actions.incident_id and incidents.deleted_at is null) as incident`;

const ACTION_SORTS = {
  requested_at: BY_ID,
  created_at: BY_ID,
  updated_at: { column: 'updated_at' },
  executed_at: { column: 'executed_at', nullable: true },
  status: { column: 'status' },
  action_type: { column: 'action_type' },
} as const;
export const SORT_FIELDS = Object.keys(ACTION_SORTS) as (keyof typeof ACTION_SORTS)[];

export const actionList = countedList({
  table: 'actions',
  columns: ACTION_COLUMNS,
  counts: 'action',
  counted: {
    status: { filter: 'status', type: 'text' },
    action_type: { filter: 'action_type', type: 'text' },
    approval_level: { filter: 'approval_level', type: 'text' },
  },
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

const ROWS = new RowInsert(ActionEntity, [
  'id',
  'incident_id',
  'action_type',
  'parameters',
  'status',
  'approval_level',
  'requested_by',
  'requested_at',
  'playbook_run_id',
  'on_behalf_of',
  'authors',
  'rollback_of',
  'reason',
  'result',
  'executed_by',
  'executed_at',
  'connector_id',
  'target_hash',
]);

export const INSERT_ACTIONS: Statement = { name: 'actions_insert', text: ROWS.text() };

export function newActionValues(actions: readonly Action[]): unknown[] {
  return ROWS.values(
    actions.map((action) => ({
      ...action,
      target_hash: targetHash(action.action_type, action.parameters, reportedSender(action)),
    })),
  );
}
