// SQL: creation is the hot path, one statement for a whole batch with its audit records and events.
import {
  IncidentEntity,
  type LockedIncident,
  type NewIncident,
  reportedMail,
} from '../incident.js';
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/audit-log.js';
import { credentialsStillValid } from '../../auth/principals/credentials-still-valid.js';
import { RowInsert, type Statement } from '../../platform/database/statements.js';
import { insertEvents } from '../../platform/work/domain-event.js';

/** Columns read by statements that lock incidents against changes. */
export const LOCKED_COLUMNS = `id, incident_number, incident_type, title, severity, status,
  fields->'message_id' as message_id, fields->'sender' as sender`;

export type LockedRow = Omit<LockedIncident, 'mail'> & {
  readonly message_id: unknown;
  readonly sender: unknown;
};

export function lockedIncidentOf({ message_id, sender, ...incident }: LockedRow): LockedIncident {
  return { ...incident, mail: reportedMail(message_id, sender) };
}

const INSERTED_COLUMNS = [
  'id',
  'incident_type',
  'severity',
  'status',
  'source',
  'title',
  'raw_data',
  'fields',
  'created_by',
  'created_at',
  'updated_at',
  'source_status',
] as const;
/** `id` begins with the milliseconds of `created_at`. */
export type InsertedIncident = NewIncident &
  Pick<IncidentEntity, 'id' | 'status' | 'created_by' | 'created_at' | 'updated_at'>;

export const INCIDENT_ROWS = new RowInsert(IncidentEntity, INSERTED_COLUMNS);

/** Number of parameters of `insertIncidents`: the columns, the events and the audit records. */
export const INCIDENT_PARAMETERS = INCIDENT_ROWS.parameters + 1 + AUDIT_PARAMETERS;

/**
 * Common table expressions that insert incidents with audit records and events. `incident` has the inserted ids and
 * numbers. `condition` gets the SQL expression of the incident id and returns a condition.
 */
export function insertIncidents(
  firstParameter: number,
  condition: (id: string) => string = () => '',
): string {
  const events = firstParameter + INCIDENT_ROWS.parameters;
  return `
    incident as (
      ${INCIDENT_ROWS.text(firstParameter)} ${condition('id')}
      returning id, incident_number),
    event as (${insertEvents(`$${events}`)} ${condition('subject_id::uuid')}),
    audit_record as (${insertAuditRows(events + 1)} ${condition('subject_id::uuid')})`;
}

const NUMBERS = `select id, incident_number from incident`;

export const INSERT: Statement = {
  name: 'incidents_insert',
  text: `with ${insertIncidents(1)} ${NUMBERS}`,
};

/** Inserts nothing unless the credentials of all callers are valid and give the required roles. */
export const INSERT_FOR: Statement = {
  name: 'incidents_insert_for',
  text: `
    with callers as materialized (select ${credentialsStillValid(1 + INCIDENT_PARAMETERS)} as valid),
    ${insertIncidents(1, () => 'where (select valid from callers)')}
    ${NUMBERS}`,
};
