// SQL: creation is the hot path, one statement for a whole batch with its audit records and events.
import { type LockedIncident, type NewIncident, reportedMail } from '../incident.js';
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/audit-log.js';
import { credentialsStillValid } from '../../auth/principals/credentials-still-valid.js';
import {
  type InsertedColumn,
  insertRows,
  type Statement,
} from '../../platform/database/statements.js';
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

export interface InsertedIncident extends NewIncident {
  /** Begins with the milliseconds of created_at. */
  readonly id: string;
  readonly created_at: Date;
  readonly created_by: string;
}

export const INSERTED_COLUMNS: readonly InsertedColumn<InsertedIncident>[] = [
  { name: 'id', type: 'uuid', of: (row) => row.id },
  { name: 'incident_type', type: 'text', of: (row) => row.incident_type },
  { name: 'severity', type: 'incident_severity', of: (row) => row.severity },
  { name: 'status', type: 'incident_status', of: () => 'open' },
  { name: 'source', type: 'text', of: (row) => row.source },
  { name: 'title', type: 'text', of: (row) => row.title },
  { name: 'raw_data', type: 'json', of: (row) => row.raw_data },
  { name: 'fields', type: 'json', of: (row) => JSON.stringify(row.fields) },
  { name: 'created_by', type: 'text', of: (row) => row.created_by },
  { name: 'created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  { name: 'updated_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  { name: 'source_status', type: 'text', of: (row) => row.source_status ?? null },
];

/** Number of parameters of `insertIncidents`: the columns, the events and the audit records. */
export const INCIDENT_PARAMETERS = INSERTED_COLUMNS.length + 1 + AUDIT_PARAMETERS;

/**
 * Common table expressions that insert incidents with audit records and events. `incident` has the inserted ids and
 * numbers. `condition` gets the SQL expression of the incident id and returns a condition.
 */
export function insertIncidents(
  firstParameter: number,
  condition: (id: string) => string = () => '',
): string {
  const events = firstParameter + INSERTED_COLUMNS.length;
  return `
    incident as (
      ${insertRows('incidents', INSERTED_COLUMNS, firstParameter)} ${condition('id')}
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
