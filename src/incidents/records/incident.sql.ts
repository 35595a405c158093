// SQL: creation is the hot path, one statement for a whole batch with its audit records and events.
import { type LockedIncident, type NewIncident, reportedMail } from '../incident.js';
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/audit-log.js';
import { type DomainEvent, eventRows, insertEvents } from '../../platform/work/domain-event.js';

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

/** Incidents with their audit records and events, ready to be inserted. */
export interface Insertion {
  readonly rows: readonly InsertedIncident[];
  readonly events: readonly DomainEvent[];
  readonly audit: readonly unknown[];
}

const OWN_PARAMETERS = 11;

/** Number of parameters of the statement. */
export const INCIDENT_PARAMETERS = OWN_PARAMETERS + AUDIT_PARAMETERS;

/**
 * Common table expressions that insert incidents with audit records and events. `incident` has the inserted ids and
 * numbers. `condition` gets the SQL expression of the incident id and returns a condition.
 */
export function insertIncidents(
  firstParameter: number,
  condition: (id: string) => string = () => '',
): string {
  const parameter = (index: number): `$${number}` => `$${firstParameter + index}`;
  return `
    incident as (
      insert into incidents (id, incident_type, severity, status, source, title, raw_data, fields, created_by, created_at, updated_at, source_status)
      select id, type, severity, 'open', source, title, raw_data, fields, created_by, created_at, created_at, source_status
        from unnest(${parameter(0)}::uuid[], ${parameter(1)}::text[], ${parameter(2)}::incident_severity[],
          ${parameter(3)}::text[], ${parameter(4)}::text[], ${parameter(5)}::json[], ${parameter(6)}::json[],
          ${parameter(7)}::text[], ${parameter(8)}::timestamptz[],
          ${parameter(9)}::text[])
          as added (id, type, severity, source, title, raw_data, fields, created_by, created_at, source_status) ${condition('id')}
      returning id, incident_number),
    event as (${insertEvents(parameter(10))} ${condition('subject_id::uuid')}),
    audit_record as (${insertAuditRows(firstParameter + OWN_PARAMETERS)} ${condition('subject_id::uuid')})`;
}

export function incidentValues({ rows, events, audit }: Insertion): unknown[] {
  return [
    rows.map(({ id }) => id),
    rows.map(({ incident_type }) => incident_type),
    rows.map(({ severity }) => severity),
    rows.map(({ source }) => source),
    rows.map(({ title }) => title),
    rows.map(({ raw_data }) => raw_data),
    rows.map(({ fields }) => JSON.stringify(fields)),
    rows.map(({ created_by }) => created_by),
    rows.map(({ created_at }) => created_at.toISOString()),
    rows.map(({ source_status }) => source_status ?? null),
    eventRows(events),
    ...audit,
  ];
}
