import { incidentNumber } from '../incident-number.js';
import type { Incident, IncidentStatus, IncidentSummary, Severity, Verdict } from '../incident.js';

export interface SummaryRow {
  readonly id: string;
  readonly number: string;
  readonly incident_type: string;
  readonly severity: Severity;
  readonly status: IncidentStatus;
  readonly source: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface IncidentRow extends SummaryRow {
  readonly raw_data: string;
  readonly verdict: Verdict | null;
  readonly verdict_by_person: boolean;
  readonly recommended_actions: readonly string[];
  readonly resolution: string | null;
  readonly version: number;
  readonly triaged_at: Date | null;
}

const SUMMARY_COLUMNS = `id, number, incident_type, severity, status, source, created_at, updated_at`;

/** raw_data comes as text: nobody needs to parse what is only passed on. */
export const INCIDENT_COLUMNS = `${SUMMARY_COLUMNS}, raw_data::text as raw_data, verdict, verdict_by_person,
  recommended_actions, resolution, version, triaged_at`;

export function summaryOf(row: SummaryRow): IncidentSummary {
  return {
    id: row.id,
    incidentNumber: incidentNumber(row.number, row.created_at),
    incidentType: row.incident_type,
    severity: row.severity,
    status: row.status,
    source: row.source,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function incidentOf(row: IncidentRow): Incident {
  return {
    ...summaryOf(row),
    rawData: row.raw_data,
    ...(row.verdict && { verdict: row.verdict }),
    verdictByPerson: row.verdict_by_person,
    recommendedActions: row.recommended_actions,
    ...(row.resolution !== null && { resolution: row.resolution }),
    version: row.version,
    ...(row.triaged_at && { triagedAt: row.triaged_at }),
  };
}
