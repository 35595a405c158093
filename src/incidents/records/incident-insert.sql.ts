// SQL: creation is the hot path, one statement for a whole batch with its audit records and events.
import { AUDIT_PARAMETERS, insertAuditRows } from '../../audit/writing/audit-insert.js';
import type { DomainEvent } from '../../platform/jobs/events/domain-event.js';
import { eventRows, insertEvents } from '../../platform/jobs/events/event-outbox.js';
import type { NewIncident } from '../incident.js';

export interface InsertedIncident extends NewIncident {
  /** Begins with the millisecond of createdAt. */
  readonly id: string;
  readonly createdAt: Date;
  readonly createdBy: string;
}

/** Incidents with what is recorded of their creation, ready to be inserted. */
export interface Insertion {
  readonly rows: readonly InsertedIncident[];
  readonly events: readonly DomainEvent[];
  readonly audit: readonly unknown[];
}

const OWN_PARAMETERS = 10;

/** How many parameters the statement takes, from the first one given. */
export const INCIDENT_PARAMETERS = OWN_PARAMETERS + AUDIT_PARAMETERS;

/**
 * Common table expressions that insert any number of incidents with their audit records and events; `incident` has the ids
 * and numbers of those that were inserted. `condition` says which: it gets the expression of the incident's id.
 */
export function insertIncidents(
  firstParameter: number,
  condition: (id: string) => string = () => '',
): string {
  const parameter = (index: number): `$${number}` => `$${firstParameter + index}`;
  return `
    incident as (
      insert into incidents (id, incident_type, severity, status, source, title, raw_data, fields, created_by, created_at, updated_at)
      select id, type, severity, 'open', source, title, raw_data, fields, created_by, created_at, created_at
        from unnest(${parameter(0)}::uuid[], ${parameter(1)}::text[], ${parameter(2)}::incident_severity[],
          ${parameter(3)}::text[], ${parameter(4)}::text[], ${parameter(5)}::json[], ${parameter(6)}::json[],
          ${parameter(7)}::text[], ${parameter(8)}::timestamptz[])
          as added (id, type, severity, source, title, raw_data, fields, created_by, created_at) ${condition('id')}
      returning id, number),
    event as (${insertEvents(parameter(9))} ${condition('subject_id::uuid')}),
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
    eventRows(events),
    ...audit,
  ];
}
