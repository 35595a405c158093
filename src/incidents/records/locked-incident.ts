import { incidentNumber, type LockedIncident } from '../incident.js';
import { titleWithoutDetails } from '../title-rules.js';
import type { IncidentEntity } from './incident.entity.js';

/** For statements that lock incidents so that nobody changes them. */
export const LOCKED_COLUMNS =
  'id, number, created_at, incident_type, source, title, severity, status';

export type LockedRow = Pick<
  IncidentEntity,
  'id' | 'number' | 'created_at' | 'incident_type' | 'source' | 'title' | 'severity' | 'status'
>;

export function lockedIncidentOf(row: LockedRow): LockedIncident {
  return {
    id: row.id,
    incidentNumber: incidentNumber(row.number, row.created_at),
    incidentType: row.incident_type,
    title: row.title ?? titleWithoutDetails(row.incident_type, row.source),
    severity: row.severity,
    status: row.status,
  };
}
