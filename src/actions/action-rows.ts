// SQL: each read of an action, the insert of new actions, and all records of a change in one statement.
import { AUDIT_PARAMETERS, insertAuditRows } from '../audit/audit-log.js';
import { insertTimeline, TIMELINE_PARAMETERS } from '../incidents/timeline/incident-timeline.js';
import { columnsOf } from '../platform/database/columns.js';
import { RowInsert, type Statement } from '../platform/database/statements.js';
import { insertEvents } from '../platform/work/domain-event.js';
import { type Action, ActionEntity, reportedSender } from './action.js';
import { targetHash } from './duplicate-actions.js';

const COLUMNS = columnsOf(ActionEntity, ['target_hash']);

/** The columns of an action, with its incident and its rollback. */
export const ACTION_COLUMNS = `${COLUMNS.map((column) => `actions.${column}`).join(', ')},
  (select back.id from actions back
    where back.rollback_of = actions.id and back.status not in ('failed', 'rejected')) as rolled_back_by,
  (select json_build_object('incident_number', incidents.incident_number,
                            'incident_type', incidents.incident_type,
                            'title', incidents.title, 'severity', incidents.severity,
                            'status', incidents.status,
                            'message_id', incidents.fields->'message_id', 'sender', incidents.fields->'sender')
     from incidents where incidents.id = actions.incident_id and incidents.deleted_at is null) as incident`;

/** Columns without a value are null in a row, and absent in an action. */
export function withoutNulls<Row extends object>(row: Row): Row {
  const present = Object.entries(row).filter(([, value]) => value !== null);
  return Object.fromEntries(present) as Row;
}

/** Inserts the records of changes in the statement of the changes, whose last parameters they are: see ActionRecorder. */
export function insertRecords(firstParameter: number, where = '', payload?: string): string {
  const timeline = firstParameter + AUDIT_PARAMETERS;
  return `
    record as (${insertAuditRows(firstParameter)} ${where}),
    entry as (${insertTimeline(timeline)} ${where}),
    event as (${insertEvents(`$${timeline + TIMELINE_PARAMETERS}`, where, payload)})`;
}

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

export const INSERT_ACTIONS: Statement = {
  name: 'actions_insert',
  text: `with ${insertRecords(1 + ROWS.parameters)} ${ROWS.text()}`,
};

export function newActionValues(actions: readonly Action[]): unknown[] {
  return ROWS.values(
    actions.map((action) => ({
      ...action,
      target_hash: targetHash(action.action_type, action.parameters, reportedSender(action)),
    })),
  );
}
