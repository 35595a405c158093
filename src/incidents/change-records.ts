import { isDeepStrictEqual } from 'node:util';
import type { NewEvent } from '../platform/jobs/events/domain-event.js';
import type { AuditEntry } from '../audit/audit-entry.js';
import {
  type IncidentChange,
  isNoLongerCritical,
  isReopened,
  wasResolved,
  wasTriaged,
} from './incident-changes.js';
import { groupOf } from './incident-group.js';
import type { Incident, IncidentStatus, NewIncident, Verdict } from './incident.js';
import { shownStart } from '../platform/text.js';

/** The names of this module's events; its audit records have the same names. */
export const INCIDENT_EVENTS = {
  created: 'incident.created',
  /** Beside `created`, where whoever made the incident wants it triaged: the beginning of a triage run. */
  triageWanted: 'incident.triage_wanted',
  updated: 'incident.updated',
  /** Beside `updated`, like the three after it. */
  severityChanged: 'incident.severity_changed',
  triaged: 'incident.triaged',
  resolved: 'incident.resolved',
  reopened: 'incident.reopened',
  deleted: 'incident.deleted',
} as const;

/** The audit record of a change by which an incident stopped being critical. */
const SEVERITY_LOWERED = 'incident.severity_lowered' as const;

/** An event is small: who wants all of a text reads the incident. */
const LONGEST_TOLD = 1_000;

export interface IncidentEventPayload {
  readonly incident_type: string;
  readonly severity: string;
  readonly status: IncidentStatus;
  readonly source: string;
  readonly title: string;
}

export interface IncidentCreatedPayload extends IncidentEventPayload {
  /** Incidents that are alike have the same one. */
  readonly group: string;
}

export interface IncidentSeverityChangedPayload extends IncidentEventPayload {
  readonly previous_severity: string;
  readonly changed_by: string;
}

export interface IncidentUpdatedPayload extends IncidentEventPayload {
  readonly updated_by: string;
  /** Empty where a further report of the tool is all that is new. */
  readonly changed: readonly ChangedField[];
}

export interface IncidentDeletedPayload extends IncidentEventPayload {
  readonly deleted_by: string;
}

export interface IncidentTriagedPayload extends IncidentEventPayload {
  /** Who triaged the incident, or asked for the triage that did: a person, a webhook source, the system. */
  readonly triaged_by: string;
  /** The verdict in short; absent when a person triaged without one. */
  readonly verdict?: Pick<Verdict, 'classification' | 'confidence' | 'category' | 'decided_by'>;
  readonly recommended_actions: readonly string[];
}

export interface IncidentResolvedPayload extends IncidentEventPayload {
  readonly resolved_by: string;
  /** Its beginning, where it is long. */
  readonly resolution?: string;
}

export interface IncidentReopenedPayload extends IncidentEventPayload {
  readonly reopened_by: string;
}

export interface TriageWantedPayload {
  /** The principal who made the incident, such as a webhook source. */
  readonly requested_by?: string;
  readonly playbook?: string;
  /** A later event says more: a run that has completed does not answer this wish. */
  readonly again?: boolean;
}

/** What of an incident a change may change, as the contract calls it. */
export const CHANGED_FIELDS = [
  'title',
  'severity',
  'status',
  'incident_type',
  'verdict',
  'recommended_actions',
  'resolution',
  'fields',
] as const;
export type ChangedField = (typeof CHANGED_FIELDS)[number];

function changedFields(before: Incident, after: Incident): ChangedField[] {
  const saidIn = (incident: Incident): Record<ChangedField, unknown> => ({
    title: incident.title,
    severity: incident.severity,
    status: incident.status,
    incident_type: incident.incidentType,
    verdict: incident.verdict,
    recommended_actions: incident.recommendedActions,
    resolution: incident.resolution,
    fields: incident.fields,
  });
  const [was, is] = [saidIn(before), saidIn(after)];
  return CHANGED_FIELDS.filter((field) => !isDeepStrictEqual(was[field], is[field]));
}

/** What the creation of an incident makes known. */
export function eventsOfCreation(
  id: string,
  incident: NewIncident & { readonly createdBy: string },
): NewEvent<IncidentCreatedPayload | TriageWantedPayload>[] {
  const created = withMore(
    incidentEvent(INCIDENT_EVENTS.created, id, { ...incident, status: 'open' }),
    { group: groupOf(incident) },
  );
  const { triage, createdBy } = incident;
  if (!triage) return [created];
  const subject = { type: 'incident', id };
  const payload = { ...triage, requested_by: createdBy };
  return [created, { type: INCIDENT_EVENTS.triageWanted, subject, payload }];
}

export function incidentEvent(
  type: string,
  id: string,
  {
    incidentType,
    severity,
    status,
    source,
    title,
  }: Pick<Incident, 'incidentType' | 'severity' | 'status' | 'source' | 'title'>,
): NewEvent<IncidentEventPayload> {
  return {
    type,
    subject: { type: 'incident', id },
    payload: { incident_type: incidentType, severity, status, source, title },
  };
}

/** One event for each thing that the change did, in the order in which people would tell them. */
export function eventsOfChange(
  before: Incident,
  after: Incident,
  askedBy: string,
): NewEvent<IncidentEventPayload>[] {
  const told = (type: string) => incidentEvent(type, after.id, after);
  const { updated, severityChanged, triaged, resolved, reopened } = INCIDENT_EVENTS;
  return [
    withMore(told(updated), { updated_by: askedBy, changed: changedFields(before, after) }),
    // Before what comes with it: whoever opens an alert again may then hear that somebody has triaged.
    ...(isReopened(before, after) ? [withMore(told(reopened), { reopened_by: askedBy })] : []),
    ...(after.severity === before.severity
      ? []
      : [
          withMore(told(severityChanged), {
            previous_severity: before.severity,
            changed_by: askedBy,
          }),
        ]),
    ...(wasTriaged(before, after)
      ? [withMore(told(triaged), { triaged_by: askedBy, ...shortVerdict(after) })]
      : []),
    ...(wasResolved(before, after)
      ? [withMore(told(resolved), { resolved_by: askedBy, ...shortResolution(after) })]
      : []),
  ];
}

export function deletionEvent(
  incident: Incident,
  deletedBy: string,
): NewEvent<IncidentDeletedPayload> {
  const told = incidentEvent(INCIDENT_EVENTS.deleted, incident.id, incident);
  return withMore(told, { deleted_by: deletedBy });
}

function withMore<More extends object>(
  event: NewEvent<IncidentEventPayload>,
  more: More,
): NewEvent<IncidentEventPayload & More> {
  return { ...event, payload: { ...event.payload, ...more } };
}

function shortVerdict({
  verdict,
  recommendedActions,
}: Incident): Omit<IncidentTriagedPayload, keyof IncidentEventPayload | 'triaged_by'> {
  const recommended_actions = recommendedActions;
  if (!verdict) return { recommended_actions };
  const { classification, confidence, category, decided_by } = verdict;
  return { verdict: { classification, confidence, category, decided_by }, recommended_actions };
}

function shortResolution({ resolution }: Incident): Pick<IncidentResolvedPayload, 'resolution'> {
  return { resolution: resolution && shownStart(resolution, LONGEST_TOLD) };
}

export function auditOfChange(
  before: Incident,
  after: Incident,
  wanted: IncidentChange,
  actor: string,
): AuditEntry[] {
  const about = { actor, subject: { type: 'incident', id: after.id } };
  const updated = { ...about, action: INCIDENT_EVENTS.updated };
  const severity = { from: before.severity, to: after.severity };
  return [
    { ...updated, details: auditDetails(before, after, wanted) },
    ...(isNoLongerCritical(before, after)
      ? [{ ...about, action: SEVERITY_LOWERED, details: { severity } }]
      : []),
  ];
}

/** What was asked for, by the names that the API has for it. JSON leaves out what is undefined. */
function auditDetails(
  before: Incident,
  after: Incident,
  wanted: IncidentChange,
): Record<string, unknown> {
  const moved = <T>(from: T, to: T) => ({ from, to });
  return {
    version: after.version,
    severity: wanted.severity && moved(before.severity, after.severity),
    status: after.status === before.status ? undefined : moved(before.status, after.status),
    incident_type: wanted.incidentType && moved(before.incidentType, after.incidentType),
    title: wanted.title && moved(before.title, after.title),
    verdict: wanted.verdict && after.verdict,
    recommended_actions: wanted.recommendedActions,
    resolution: wanted.resolution,
    fields: wanted.fields && Object.keys(wanted.fields),
  };
}
