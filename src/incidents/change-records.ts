import type { AuditEntry } from '../audit/audit-entry.js';
import type { NewEvent } from '../platform/work/domain-events.js';
import { shownStart } from '../platform/text.js';
import type { Incident, NewIncident, Verdict } from './incident.js';
import { changesBetween, CHOICE_FIELDS, effectsOf, type FieldChange } from './incident-changes.js';
import { shortened } from './raw-data-text.js';
import type {
  NewTimelineEntry,
  TimelineDetails,
  TimelineSubject,
} from './timeline/incident-timeline.js';
import { groupOf } from './titles.js';

export const INCIDENT_EVENTS = {
  created: 'incident.created',
  /** Emitted with `created` if the creator asked for triage. Starts a triage run. */
  triageWanted: 'incident.triage_wanted',
  updated: 'incident.updated',
  /** Emitted in addition to `updated`, like the next three events. */
  severityChanged: 'incident.severity_changed',
  triaged: 'incident.triaged',
  resolved: 'incident.resolved',
  reopened: 'incident.reopened',
  deleted: 'incident.deleted',
} as const;

/** Maximum text length in events and timeline summaries. The incident and the entry's details have the whole text. */
const LONGEST_TOLD = 1_000;

export type IncidentEventPayload = Pick<
  Incident,
  'incident_type' | 'severity' | 'status' | 'source' | 'title'
>;

export interface TriageWantedPayload {
  readonly requested_by?: string;
  readonly playbook?: string;
  /** True if a later webhook event has more information. Then completed triage runs do not prevent a new triage run. */
  readonly again?: boolean;
}

export function incidentEvent(
  type: string,
  incident: IncidentEventPayload & { readonly id: string },
  more: object,
): NewEvent {
  const { id, incident_type, severity, status, source, title } = incident;
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
  const more = { group: groupOf(incident) };
  const event = incidentEvent(INCIDENT_EVENTS.created, { ...incident, status: 'open' }, more);
  if (!triage) return [event];
  const wanted: TriageWantedPayload = { ...triage, requested_by: created_by };
  return [event, { type: INCIDENT_EVENTS.triageWanted, subject: event.subject, payload: wanted }];
}

/**
 * Returns the domain events of a change, in the order that readers expect.
 *
 * @param because report of the tool, if the report made the change
 */
export function eventsOfChange(
  before: Incident,
  after: Incident,
  changes: readonly FieldChange[],
  askedBy: string,
  because?: string,
): NewEvent[] {
  const events: NewEvent[] = [];
  const add = (type: string, more: object) => events.push(incidentEvent(type, after, more));
  const { isReopened, isTriaged, isResolved } = effectsOf(before, after);
  const previous = after.severity === before.severity ? undefined : before.severity;
  add(INCIDENT_EVENTS.updated, {
    updated_by: askedBy,
    changed: changes.map(({ field }) => field),
  });
  // The reopening comes first, so that receivers reopen their alert before they handle the triage.
  if (isReopened) {
    add(INCIDENT_EVENTS.reopened, {
      reopened_by: askedBy,
      previous_severity: previous,
      because,
      resolved_by: before.resolved_by ?? undefined,
      resolved_at: before.resolved_at?.toISOString(),
      resolution: startOf(before.resolution),
    });
  }
  if (previous) {
    add(INCIDENT_EVENTS.severityChanged, {
      previous_severity: previous,
      changed_by: askedBy,
      because,
      // The message about the reopening also contains the severity, so receivers can skip this event.
      reopened: isReopened || undefined,
    });
  }
  if (isTriaged) {
    add(INCIDENT_EVENTS.triaged, {
      triaged_by: askedBy,
      verdict: after.verdict ? shortVerdict(after.verdict) : undefined,
      recommended_actions: after.recommended_actions,
      ...(becomesMalicious(before, after) && { becomes_malicious: true }),
    });
  }
  if (isResolved) {
    add(INCIDENT_EVENTS.resolved, {
      resolved_by: askedBy,
      resolution: startOf(after.resolution),
    });
  }
  return events;
}

export function deletionEvent(incident: Incident, deleted_by: string): NewEvent {
  return incidentEvent(INCIDENT_EVENTS.deleted, incident, { deleted_by });
}

const startOf = (text: string | null) => (text ? shownStart(text, LONGEST_TOLD) : undefined);

function shortVerdict({ classification, confidence, category, decided_by }: Verdict) {
  return { classification, confidence, category, decided_by };
}

function becomesMalicious({ verdict: before }: Incident, after: Incident): boolean {
  const wasCalm = before !== null && before.classification !== 'malicious';
  return wasCalm && !after.verdict_by_person && after.verdict?.classification === 'malicious';
}

/** The audit trail outlives deleted incidents, so audit records contain no free text. */
export function auditOfChange(
  before: Incident,
  after: Incident,
  changes: readonly FieldChange[],
  actor: string,
): AuditEntry[] {
  const about = { actor, subject: { type: 'incident', id: after.id } };
  const changed = changes.map(({ field }) => field);
  const details = {
    version: after.version,
    changed,
    ...Object.fromEntries(
      changes.flatMap(({ field, from, to }) =>
        CHOICE_FIELDS.has(field) ? [[field, { from, to }]] : [],
      ),
    ),
    ...(changed.includes('verdict') && after.verdict && { verdict: shortVerdict(after.verdict) }),
  };
  const entries: AuditEntry[] = [{ ...about, action: INCIDENT_EVENTS.updated, details }];
  if (effectsOf(before, after).isNoLongerCritical) {
    const severity = { from: before.severity, to: after.severity };
    entries.push({ ...about, action: 'incident.severity_lowered', details: { severity } });
  }
  return entries;
}

export function timelineOfChange(
  before: Incident,
  after: Incident,
  changes: readonly FieldChange[],
  actor: string,
  subject?: TimelineSubject,
): NewTimelineEntry[] {
  const entries: NewTimelineEntry[] = [];
  const add = (event: string, summary: string, fields: string[], details?: TimelineDetails) => {
    entries.push({ incidentId: after.id, actor, subject, event, summary, details });
    told.push(...fields);
  };
  const told = ['verdict', 'source_status', 'fields'];
  const did = effectsOf(before, after);
  const resolution = after.resolution ?? undefined;
  if (did.isReopened) {
    const now = resolution ? ` New resolution: ${quoted(resolution)}.` : '';
    const summary = `Reopened, status ${after.status}.${now} ${earlierResolution(before)}`;
    const ended = changesBetween(before, after, ['status', 'resolution', 'resolved_by']);
    add('reopened', summary, ['status', 'resolution'], { changes: ended });
  }
  if (did.isTriaged) {
    add('triaged', verdictInWords(after), after.status === 'triaged' ? ['status'] : []);
  }
  if (did.isResolved) {
    const summary = resolution ? `Resolved: ${shortened(resolution, LONGEST_TOLD)}` : 'Resolved.';
    add('resolved', summary, ['status', 'resolution'], resolution ? { resolution } : undefined);
  }
  if (did.isNoLongerCritical) {
    const summary = `Lowered the severity from ${before.severity} to ${after.severity}.`;
    const lowered = changesBetween(before, after, ['severity']);
    add('severity_lowered', summary, ['severity'], { changes: lowered });
  }
  const untold = changes.filter(({ field }) => !told.includes(field));
  if (untold.length > 0) {
    add('updated', `Changed ${untold.map(changeInWords).join(', ')}.`, [], { changes: untold });
  }
  return entries;
}

function earlierResolution({ resolved_by, resolved_at, resolution }: Incident): string {
  const by = resolved_by ? ` by ${resolved_by}` : '';
  const at = resolved_at ? ` at ${resolved_at.toISOString()}` : '';
  const words = resolution ? `: ${shortened(resolution, LONGEST_TOLD)}` : '.';
  return `It was resolved${by}${at}${words}`;
}

function verdictInWords({ verdict }: Incident): string {
  if (!verdict) return 'Triaged without a verdict.';
  const { classification, category } = verdict;
  return `Triaged as ${classification}${category ? ` (${category})` : ''}.`;
}

function changeInWords({ field, from, to }: FieldChange): string {
  if (field === 'recommended_actions') return 'the recommended actions';
  const shown = CHOICE_FIELDS.has(field) ? String : quoted;
  const before = from === undefined ? '' : ` from ${shown(from)}`;
  const after = to === undefined ? 'nothing' : shown(to);
  return `${field.replace('incident_', '')}${before} to ${after}`;
}

const quoted = (text: unknown) => JSON.stringify(shortened(String(text), LONGEST_TOLD));
