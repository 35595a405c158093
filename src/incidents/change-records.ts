import { createHash } from 'node:crypto';
import type { AuditEntry } from '../audit/audit-entry.js';
import type { NewEvent } from '../platform/jobs/events/domain-event.js';
import { shownStart } from '../platform/text.js';
import type { Incident, NewIncident, Verdict } from './incident.js';
import {
  type ChangedField,
  type FieldChange,
  isNoLongerCritical,
  isReopened,
  wasResolved,
  wasTriaged,
} from './incident-changes.js';
import { groupOf } from './titles.js';

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

export type IncidentEventPayload = Pick<
  Incident,
  'incident_type' | 'severity' | 'status' | 'source' | 'title'
>;

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
  /** Beginning of the resolution. */
  readonly resolution?: string;
}

export interface TriageWantedPayload {
  /** Principal who created the incident, such as a webhook source. */
  readonly requested_by?: string;
  readonly playbook?: string;
  /** A later event has more information, so completed runs do not count. */
  readonly again?: boolean;
}

type Of<Payload> = Omit<Payload, keyof IncidentEventPayload>;

export function incidentEvent<More extends object>(
  type: string,
  { id, ...incident }: IncidentEventPayload & { readonly id: string },
  more: More,
): NewEvent<IncidentEventPayload & More> {
  const { incident_type, severity, status, source, title } = incident;
  return {
    type,
    subject: { type: 'incident', id },
    payload: { incident_type, severity, status, source, title, ...more },
  };
}

export function eventsOfCreation(
  incident: NewIncident & { readonly id: string; readonly created_by: string },
): NewEvent[] {
  const { triage, created_by } = incident;
  const created: Of<IncidentCreatedPayload> = { group: groupOf(incident) };
  const event = incidentEvent(INCIDENT_EVENTS.created, { ...incident, status: 'open' }, created);
  if (!triage) return [event];
  const wanted: TriageWantedPayload = { ...triage, requested_by: created_by };
  return [event, { type: INCIDENT_EVENTS.triageWanted, subject: event.subject, payload: wanted }];
}

/** Domain events of a change, in the order that readers expect. */
export function eventsOfChange(
  before: Incident,
  after: Incident,
  changes: readonly FieldChange<ChangedField>[],
  askedBy: string,
  because?: string,
): NewEvent[] {
  const events: NewEvent[] = [];
  const add = <Payload>(type: string, more: Of<Payload> & object) =>
    events.push(incidentEvent(type, after, more));
  const reopened = isReopened(before, after);
  const previous = after.severity === before.severity ? undefined : before.severity;
  add<IncidentUpdatedPayload>(INCIDENT_EVENTS.updated, {
    updated_by: askedBy,
    changed: changes.map(({ field }) => field),
  });
  // The reopening comes first, so that a receiver reopens its alert before it handles the triage.
  if (reopened) {
    add<IncidentReopenedPayload>(INCIDENT_EVENTS.reopened, {
      reopened_by: askedBy,
      previous_severity: previous,
      because,
      resolved_by: before.resolved_by ?? undefined,
      resolved_at: before.resolved_at?.toISOString(),
      resolution: startOf(before.resolution),
    });
  }
  if (previous) {
    add<IncidentSeverityChangedPayload>(INCIDENT_EVENTS.severityChanged, {
      previous_severity: previous,
      changed_by: askedBy,
      because,
      reopened: reopened || undefined,
    });
  }
  if (wasTriaged(before, after)) {
    add<IncidentTriagedPayload>(INCIDENT_EVENTS.triaged, {
      triaged_by: askedBy,
      verdict: after.verdict ? shortVerdict(after.verdict) : undefined,
      recommended_actions: after.recommended_actions,
      ...(becomesMalicious(before, after) && { becomes_malicious: true }),
    });
  }
  if (wasResolved(before, after)) {
    add<IncidentResolvedPayload>(INCIDENT_EVENTS.resolved, {
      resolved_by: askedBy,
      resolution: startOf(after.resolution),
    });
  }
  return events;
}

export function deletionEvent(incident: Incident, by: string): NewEvent {
  const deleted: Of<IncidentDeletedPayload> = { deleted_by: by };
  return incidentEvent(INCIDENT_EVENTS.deleted, incident, deleted);
}

const startOf = (text: string | null) => (text ? shownStart(text, LONGEST_TOLD) : undefined);

function shortVerdict({ classification, confidence, category, decided_by }: Verdict) {
  return { classification, confidence, category, decided_by };
}

function becomesMalicious({ verdict: before }: Incident, after: Incident): boolean {
  const wasCalm = before !== null && before.classification !== 'malicious';
  return wasCalm && !after.verdict_by_person && after.verdict?.classification === 'malicious';
}

export function auditOfChange(
  before: Incident,
  after: Incident,
  changes: readonly FieldChange<ChangedField>[],
  actor: string,
): AuditEntry[] {
  const about = { actor, subject: { type: 'incident', id: after.id } };
  const details = {
    version: after.version,
    changed: changes.map(({ field }) => field),
    ...Object.fromEntries(changes.map((change) => audited(change, after))),
  };
  const severity = { from: before.severity, to: after.severity };
  return [
    { ...about, action: INCIDENT_EVENTS.updated, details },
    ...(isNoLongerCritical(before, after)
      ? [{ ...about, action: SEVERITY_LOWERED, details: { severity } }]
      : []),
  ];
}

/** The audit trail outlives deleted incidents, so its entries contain digests instead of text. */
function audited(
  { field, from, to }: FieldChange<ChangedField>,
  { verdict, fields }: Incident,
): [name: string, value: unknown] {
  switch (field) {
    case 'title':
    case 'resolution':
      return [field, { from: digestOf(from), to: digestOf(to) }];
    case 'verdict':
      return [field, verdict && auditedVerdict(verdict)];
    case 'fields':
      // VersionHistory reads `fields` as the list of changed fields.
      return [
        'added_fields',
        Object.keys(fields).filter((name) => !Object.hasOwn(from as object, name)),
      ];
    case 'recommended_actions':
    case 'source_status':
      return [field, to];
    case 'severity':
    case 'status':
    case 'incident_type':
      return [field, { from, to }];
  }
}

function digestOf(text: unknown): { sha256: string; length: number } | undefined {
  if (typeof text !== 'string') return undefined;
  return { sha256: createHash('sha256').update(text).digest('hex'), length: text.length };
}

function auditedVerdict({ indicators, evidence, ...verdict }: Verdict): Record<string, unknown> {
  const { model, triage_id, mitre_techniques, reasoning } = verdict;
  return {
    ...shortVerdict(verdict),
    ...{ model, triage_id, mitre_techniques },
    reasoning: digestOf(reasoning),
    indicators: indicators?.length,
    evidence: evidence?.length,
  };
}
