// SQL: creation is the hot path, one statement for a whole batch with its audit records and events.
import {
  incidentNumber,
  type LockedIncident,
  type NewIncident,
  type IncidentEntity,
  reportedMail,
} from '../incident.js';
import { titleWithoutDetails } from '../titles.js';
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/audit-log.js';
import type { DomainEvent } from '../../platform/jobs/events/domain-event.js';
import { eventRows, insertEvents } from '../../platform/jobs/events/event-outbox.js';

/** Columns read by statements that lock incidents against changes. */
export const LOCKED_COLUMNS = `id, number, created_at, incident_type, source, title, severity, status,
  fields->'message_id' as message_id, fields->'sender' as sender`;

export type LockedRow = Pick<
  IncidentEntity,
  'id' | 'number' | 'created_at' | 'incident_type' | 'source' | 'title' | 'severity' | 'status'
> & { readonly message_id: unknown; readonly sender: unknown };

export function lockedIncidentOf(row: LockedRow): LockedIncident {
  return {
    id: row.id,
    incidentNumber: incidentNumber(row.number, row.created_at),
    incidentType: row.incident_type,
    title: row.title ?? titleWithoutDetails(row.incident_type, row.source),
    severity: row.severity,
    status: row.status,
    mail: reportedMail(row.message_id, row.sender),
  };
}

export interface InsertedIncident extends NewIncident {
  /** Begins with the milliseconds of createdAt. */
  readonly id: string;
  readonly createdAt: Date;
  readonly createdBy: string;
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
      returning id, number),
    event as (${insertEvents(parameter(10))} ${condition('subject_id::uuid')}),
    audit_record as (${insertAuditRows(firstParameter + OWN_PARAMETERS)} ${condition('subject_id::uuid')})`;
}

export function incidentValues({ rows, events, audit }: Insertion): unknown[] {
  return [
    rows.map(({ id }) => id),
    rows.map(({ incidentType }) => incidentType),
    rows.map(({ severity }) => severity),
    rows.map(({ source }) => source),
    rows.map(({ title }) => title),
    rows.map(({ rawData }) => rawData),
    rows.map(({ fields }) => JSON.stringify(fields)),
    rows.map(({ createdBy }) => createdBy),
    rows.map(({ createdAt }) => createdAt.toISOString()),
    rows.map(({ sourceStatus }) => sourceStatus ?? null),
    eventRows(events),
    ...audit,
  ];
}
