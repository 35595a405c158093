import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { NewEvent } from '../platform/work/domain-event.js';
import type { AuditEntry } from '../audit/audit-entry.js';
import {
  type IncidentChange,
  isNoLongerCritical,
  isReopened,
  wasResolved,
  wasTriaged,
} from './incident-changes.js';
import { groupOf } from './titles.js';
import type { Incident, IncidentStatus, NewIncident, Verdict } from './incident.js';
import { shownStart } from '../platform/text.js';

/** Names of the events and audit records of this module. */
export const INCIDENT_EVENTS = {
  created: 'incident.created',
  /** Emitted with `created` when the creator asked for triage. Starts a triage run. */
  triageWanted: 'incident.triage_wanted',
  updated: 'incident.updated',
  /** Emitted together with `updated`, like the next three. */
  severityChanged: 'incident.severity_changed',
  triaged: 'incident.triaged',
  resolved: 'incident.resolved',
  reopened: 'incident.reopened',
  deleted: 'incident.deleted',
} as const;

/** Audit record of a change after which an incident is no longer critical. */
const SEVERITY_LOWERED = 'incident.severity_lowered' as const;

/**
 * Maximum length of a text in events and timeline summaries. The incident and the details of the entry have the whole
 * text.
 */
export const LONGEST_TOLD = 1_000;

export interface IncidentEventPayload {
  readonly incident_type: string;
  readonly severity: string;
  readonly status: IncidentStatus;
  readonly source: string;
  readonly title: string;
}

interface IncidentCreatedPayload extends IncidentEventPayload {
  /** Similar incidents have the same group. */
  readonly group: string;
}

export interface IncidentSeverityChangedPayload extends IncidentEventPayload {
  readonly previous_severity: string;
  readonly changed_by: string;
  /** What the tool reported, if its report made the change. */
  readonly because?: string;
  /** The message about the reopening tells the severity, too. */
  readonly reopened?: true;
}

export interface IncidentUpdatedPayload extends IncidentEventPayload {
  readonly updated_by: string;
  /** Empty if only a further report of the tool was added. */
  readonly changed: readonly ChangedField[];
}

export interface IncidentDeletedPayload extends IncidentEventPayload {
  readonly deleted_by: string;
}

export interface IncidentTriagedPayload extends IncidentEventPayload {
  /** Principal that triaged the incident or requested the triage run: a person, a webhook source or the system. */
  readonly triaged_by: string;
  /** Summary of the verdict; absent if a person triaged without one. */
  readonly verdict?: Pick<Verdict, 'classification' | 'confidence' | 'category' | 'decided_by'>;
  readonly recommended_actions: readonly string[];
  /** A machine now finds malicious what it judged less bad before, such as after a further report. */
  readonly becomes_malicious?: true;
}

export interface IncidentResolvedPayload extends IncidentEventPayload {
  readonly resolved_by: string;
  /** Beginning of the resolution. */
  readonly resolution?: string;
}

export interface IncidentReopenedPayload extends IncidentEventPayload {
  readonly reopened_by: string;
  /** Present if the severity changed together with the reopening. */
  readonly previous_severity?: string;
  /** What the tool reported, if its report reopened the incident. */
  readonly because?: string;
  readonly resolved_by?: string;
  readonly resolved_at?: string;
  /** Its beginning, where it is long. */
  readonly resolution?: string;
}

export interface TriageWantedPayload {
  /** Principal who created the incident, such as a webhook source. */
  readonly requested_by?: string;
  readonly playbook?: string;
  /** A later event has more information, so completed runs do not count. */
  readonly again?: boolean;
}

/** Fields that a change can change, by API name. */
export const CHANGED_FIELDS = [
  'title',
  'severity',
  'status',
  'incident_type',
  'verdict',
  'recommended_actions',
  'resolution',
  'source_status',
  'fields',
] as const;
export type ChangedField = (typeof CHANGED_FIELDS)[number];

/** Values of these fields. Records show an absent value instead of null. */
export function changeableValues(incident: Incident): Record<ChangedField, unknown> {
  return Object.fromEntries(
    CHANGED_FIELDS.map((field) => [field, incident[field] ?? undefined]),
  ) as Record<ChangedField, unknown>;
}

function changedFields(before: Incident, after: Incident): ChangedField[] {
  const [was, is] = [changeableValues(before), changeableValues(after)];
  return CHANGED_FIELDS.filter((field) => !isDeepStrictEqual(was[field], is[field]));
}

/** Domain events of a new incident. */
export function eventsOfCreation(
  id: string,
  incident: NewIncident & { readonly created_by: string },
): NewEvent<IncidentCreatedPayload | TriageWantedPayload>[] {
  const created = withMore(
    incidentEvent(INCIDENT_EVENTS.created, id, { ...incident, status: 'open' }),
    { group: groupOf(incident) },
  );
  const { triage, created_by } = incident;
  if (!triage) return [created];
  const subject = { type: 'incident', id };
  const payload = { ...triage, requested_by: created_by };
  return [created, { type: INCIDENT_EVENTS.triageWanted, subject, payload }];
}

export function incidentEvent(
  type: string,
  id: string,
  {
    incident_type,
    severity,
    status,
    source,
    title,
  }: Pick<Incident, 'incident_type' | 'severity' | 'status' | 'source' | 'title'>,
): NewEvent<IncidentEventPayload> {
  return {
    type,
    subject: { type: 'incident', id },
    payload: { incident_type, severity, status, source, title },
  };
}

/** Domain events of a change, in the order that readers expect. */
export function eventsOfChange(
  before: Incident,
  after: Incident,
  askedBy: string,
  because?: string,
): NewEvent<IncidentEventPayload>[] {
  const told = (type: string) => incidentEvent(type, after.id, after);
  const opensAgain = isReopened(before, after);
  const { updated, severityChanged, triaged, resolved, reopened } = INCIDENT_EVENTS;
  return [
    withMore(told(updated), { updated_by: askedBy, changed: changedFields(before, after) }),
    // The reopening comes first, so that a receiver reopens its alert before it handles the triage.
    ...(opensAgain ? [withMore(told(reopened), reopening(before, after, askedBy, because))] : []),
    ...(after.severity === before.severity
      ? []
      : [
          withMore(told(severityChanged), {
            previous_severity: before.severity,
            changed_by: askedBy,
            because,
            reopened: opensAgain || undefined,
          }),
        ]),
    ...(wasTriaged(before, after)
      ? [
          withMore(told(triaged), {
            triaged_by: askedBy,
            ...shortVerdict(after),
            ...(becomesMalicious(before, after) && { becomes_malicious: true }),
          }),
        ]
      : []),
    ...(wasResolved(before, after)
      ? [withMore(told(resolved), { resolved_by: askedBy, ...shortResolution(after) })]
      : []),
  ];
}

function reopening(
  before: Incident,
  after: Incident,
  askedBy: string,
  because: string | undefined,
): Omit<IncidentReopenedPayload, keyof IncidentEventPayload> {
  return {
    reopened_by: askedBy,
    previous_severity: after.severity === before.severity ? undefined : before.severity,
    because,
    resolved_by: before.resolved_by ?? undefined,
    resolved_at: before.resolved_at?.toISOString(),
    ...shortResolution(before),
  };
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
  recommended_actions,
}: Incident): Omit<IncidentTriagedPayload, keyof IncidentEventPayload | 'triaged_by'> {
  if (!verdict) return { recommended_actions };
  const { classification, confidence, category, decided_by } = verdict;
  return { verdict: { classification, confidence, category, decided_by }, recommended_actions };
}

function becomesMalicious({ verdict: before }: Incident, after: Incident): boolean {
  const wasCalm = before !== null && before.classification !== 'malicious';
  return wasCalm && !after.verdict_by_person && after.verdict?.classification === 'malicious';
}

function shortResolution({ resolution }: Incident): Pick<IncidentResolvedPayload, 'resolution'> {
  return { resolution: resolution ? shownStart(resolution, LONGEST_TOLD) : undefined };
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

/** Requested changes by API name. JSON omits undefined values. */
function auditDetails(
  before: Incident,
  after: Incident,
  wanted: IncidentChange,
): Record<string, unknown> {
  const moved = <T>(from: T, to: T) => ({ from, to });
  return {
    version: after.version,
    changed: changedFields(before, after),
    severity: wanted.severity && moved(before.severity, after.severity),
    status: after.status === before.status ? undefined : moved(before.status, after.status),
    incident_type: wanted.incident_type && moved(before.incident_type, after.incident_type),
    title: wanted.title && moved(digestOf(before.title), digestOf(after.title)),
    verdict: wanted.verdict && after.verdict && auditedVerdict(after.verdict),
    recommended_actions: wanted.recommended_actions,
    resolution:
      wanted.resolution === undefined
        ? undefined
        : moved(digestOf(before.resolution), digestOf(after.resolution)),
    source_status: wanted.source_status,
    fields: wanted.fields && Object.keys(wanted.fields),
  };
}

/** The audit trail outlives deleted incidents, so its entries contain digests instead of text. */
function digestOf(text: string | null | undefined): { sha256: string; length: number } | undefined {
  if (!text) return undefined;
  return { sha256: createHash('sha256').update(text).digest('hex'), length: text.length };
}

function auditedVerdict(verdict: Verdict): Record<string, unknown> {
  const { classification, confidence, category, decided_by, model, triage_id } = verdict;
  const { reasoning, indicators, evidence, mitre_techniques } = verdict;
  return {
    ...{ classification, confidence, category, decided_by, model, triage_id, mitre_techniques },
    reasoning: digestOf(reasoning),
    indicators: indicators?.length,
    evidence: evidence?.length,
  };
}
