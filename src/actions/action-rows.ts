// SQL: each read of an action, the insert of new actions, and all records of a change in one statement.
import { AUDIT_PARAMETERS, insertAuditRows } from '../audit/audit-log.js';
import { insertTimeline, TIMELINE_PARAMETERS } from '../incidents/timeline/incident-timeline.js';
import { columnsOf } from '../platform/database/columns.js';
import { RowInsert, type Statement } from '../platform/database/statements.js';
import { type DomainEvent, eventRows, insertEvents } from '../platform/work/domain-event.js';
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

export interface ChangeRecords {
  readonly audit: readonly unknown[];
  readonly timeline: readonly unknown[];
  readonly events: readonly DomainEvent[];
}

/** Writes all records of a change in one round trip. */
export const INSERT_RECORDS: Statement = {
  name: 'action_records_insert',
  text: `
    with record as (${insertAuditRows()}),
    entry as (${insertTimeline(1 + AUDIT_PARAMETERS)})
    ${insertEvents(`$${1 + AUDIT_PARAMETERS + TIMELINE_PARAMETERS}`)}`,
};

export function recordValues({ audit, timeline, events }: ChangeRecords): unknown[] {
  return [...audit, ...timeline, eventRows(events)];
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
const AFTER_ACTIONS = ROWS.parameters + 1;
const AFTER_AUDIT = AFTER_ACTIONS + AUDIT_PARAMETERS;

export const INSERT_ACTIONS: Statement = {
  name: 'actions_insert',
  text: `
    with record as (${insertAuditRows(AFTER_ACTIONS)}),
    entry as (${insertTimeline(AFTER_AUDIT)}),
    event as (${insertEvents(`$${AFTER_AUDIT + TIMELINE_PARAMETERS}`)})
    ${ROWS.text()}`,
};

export function newActionValues(actions: readonly Action[], records: ChangeRecords): unknown[] {
  const rows = actions.map((action) => ({
    ...action,
    target_hash: targetHash(action.action_type, action.parameters, reportedSender(action)),
  }));
  return [...ROWS.values(rows), ...recordValues(records)];
}
