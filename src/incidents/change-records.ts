import type { NewEvent } from '../platform/jobs/events/domain-event.js';
import type { AuditEntry } from '../audit/audit-entry.js';
import { type IncidentChange, isNoLongerCritical } from './incident-changes.js';
import type { Incident, NewIncident } from './incident.js';
import type { NewTimelineEntry, TimelineSubject } from './timeline/timeline-entry.js';

/** The events of this module, by their names. */
export const INCIDENT_EVENTS = {
  created: 'incident.created',
  updated: 'incident.updated',
  triaged: 'incident.triaged',
  resolved: 'incident.resolved',
  deleted: 'incident.deleted',
} as const;

/** How the audit trail calls it that an incident is no longer critical. */
const SEVERITY_LOWERED = 'incident.severity_lowered' as const;

export interface IncidentEventPayload {
  readonly incident_type: string;
  readonly severity: string;
  readonly source: string;
}

export function incidentEvent(
  type: string,
  id: string,
  { incidentType, severity, source }: Pick<NewIncident, 'incidentType' | 'severity' | 'source'>,
): NewEvent<IncidentEventPayload> {
  return {
    type,
    subject: { type: 'incident', id },
    payload: { incident_type: incidentType, severity, source },
  };
}

/** What a change is called: the most telling of what it did comes last. */
export function eventsOfChange(
  before: Incident,
  after: Incident,
): NewEvent<IncidentEventPayload>[] {
  const { updated, triaged, resolved } = INCIDENT_EVENTS;
  return [
    updated,
    ...(after.triagedAt !== before.triagedAt ? [triaged] : []),
    ...(after.status === 'resolved' && before.status !== 'resolved' ? [resolved] : []),
  ].map((type) => incidentEvent(type, after.id, after));
}

export function timelineOfChange(
  before: Incident,
  after: Incident,
  actor: string,
  subject?: TimelineSubject,
): NewTimelineEntry[] {
  const about = { incidentId: after.id, actor, subject };
  const triaged = after.triagedAt !== before.triagedAt;
  const resolved = after.status === 'resolved' && before.status !== 'resolved';
  const lowered = isNoLongerCritical(before, after);
  // What an entry of its own tells is not told again.
  const told = resolved || (triaged && after.status === 'triaged');
  const differences = differencesOf(before, {
    ...after,
    ...(told && { status: before.status }),
    ...(resolved && { resolution: before.resolution }),
    ...(lowered && { severity: before.severity }),
  });
  return [
    ...(triaged ? [{ ...about, event: 'triaged', summary: verdictInWords(after) }] : []),
    ...(resolved ? [{ ...about, event: 'resolved', summary: 'Resolved.' }] : []),
    ...(lowered
      ? [{ ...about, event: 'severity_lowered', summary: loweredInWords(before, after) }]
      : []),
    ...(differences.length > 0
      ? [{ ...about, event: 'updated', summary: `Changed ${differences.join(', ')}.` }]
      : []),
  ];
}

function loweredInWords(before: Incident, after: Incident): string {
  return `Lowered the severity from ${before.severity} to ${after.severity}.`;
}

function verdictInWords({ verdict }: Incident): string {
  if (!verdict) return 'Triaged without a verdict.';
  const { classification, category } = verdict;
  return `Triaged as ${classification}${category ? ` (${category})` : ''}.`;
}

type Compared = Pick<Incident, 'severity' | 'status' | 'incidentType' | 'recommendedActions'> & {
  readonly resolution?: string | undefined;
};

function differencesOf(before: Compared, after: Compared): string[] {
  const moved = (name: string, from: string, to: string) =>
    from === to ? [] : [`${name} from ${from} to ${to}`];
  return [
    ...moved('severity', before.severity, after.severity),
    ...moved('status', before.status, after.status),
    ...moved('type', before.incidentType, after.incidentType),
    ...(before.resolution === after.resolution ? [] : ['the resolution']),
    ...(String(before.recommendedActions) === String(after.recommendedActions)
      ? []
      : ['the recommended actions']),
  ];
}

export function auditOfChange(
  before: Incident,
  after: Incident,
  wanted: IncidentChange,
  actor: string,
): AuditEntry[] {
  const about = { actor, subject: { type: 'incident', id: after.id } };
  const updated = { ...about, action: INCIDENT_EVENTS.updated };
  const details = { ...auditDetails(before, after, wanted) };
  const severity = { from: before.severity, to: after.severity };
  return [
    { ...updated, details },
    ...(isNoLongerCritical(before, after)
      ? [{ ...about, action: SEVERITY_LOWERED, details: { severity } }]
      : []),
  ];
}

/** What was asked for, by the names that the API has for it. */
function auditDetails(before: Incident, after: Incident, wanted: IncidentChange): object {
  return {
    version: after.version,
    severity: wanted.severity && { from: before.severity, to: after.severity },
    ...(after.status !== before.status && { status: { from: before.status, to: after.status } }),
    ...(wanted.incidentType && {
      incident_type: { from: before.incidentType, to: after.incidentType },
    }),
    verdict: wanted.verdict && after.verdict,
    recommended_actions: wanted.recommendedActions,
    resolution: wanted.resolution,
  };
}
