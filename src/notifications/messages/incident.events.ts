import { CHANGED_FIELDS } from '../../incidents/incident-changes.js';
import { CLASSIFICATIONS, INCIDENT_STATUSES, severityRises } from '../../incidents/incident.js';
import { Decimal, Nested, OpenChoices, Texts } from '../../platform/validation/fields.js';
import {
  acknowledge,
  type AlertChange,
  apiUrl,
  choice,
  dataType,
  type DataOf,
  defineEvent,
  type EventWords,
  type Facts,
  field,
  id,
  incidentNumber,
  instant,
  maybe,
  nested,
  resolve,
  severity,
  subjectId,
  text,
  trigger,
} from './define-event.js';

const INCIDENT = dataType('EventIncident', 'An incident at the time of the event.', {
  id: subjectId('IncidentId'),
  incident_number: incidentNumber,
  title: text(),
  incident_type: text(),
  severity: severity(),
  status: maybe(choice('IncidentStatus', INCIDENT_STATUSES)),
  source: text(),
  url: apiUrl('incident'),
});
export type EventIncident = DataOf<typeof INCIDENT>;
const incident = nested(INCIDENT);

const VERDICT = dataType('EventVerdict', 'Summary of a verdict.', {
  classification: choice('Classification', CLASSIFICATIONS),
  confidence: maybe(field<number>((options) => Decimal({ ...options, min: 0, max: 1 }))),
  category: maybe(text()),
  decided_by: text('Author of the verdict: a person or the system.'),
});

export const INCIDENT_EVENT_TYPES = {
  'incident.created': defineEvent({
    description: 'An incident was created.',
    data: dataType('IncidentData', 'The incident of an event.', { incident }),
    forPeople: true,
    words: (data) => wordsAbout(data.incident, 'New incident'),
    alerts: (data) => trigger(keyOf(data.incident)),
  }),

  'incident.updated': defineEvent({
    description: 'A field of an incident changed, or its tool reported it again.',
    data: dataType('IncidentUpdatedData', 'Changed fields of an incident, and their author.', {
      incident,
      updated_by: text('A person, a webhook source, or the system.'),
      changed: field<readonly string[]>(
        (options) => OpenChoices('ChangedField', CHANGED_FIELDS, options),
        'Changed fields. Empty if the tool only reported further data.',
      ),
    }),
    words: (data) =>
      wordsAbout(data.incident, 'Incident updated', {
        Changed: data.changed.join(', ') || 'its tool reported more',
        'Updated by': data.updated_by,
      }),
    // Changes that page people have separate events.
    alerts: () => [],
  }),

  'incident.severity_changed': defineEvent({
    description: 'The severity of an incident was raised or lowered.',
    data: dataType('IncidentSeverityChangedData', 'An incident, and its previous severity.', {
      incident,
      previous_severity: severity('Severity before the change. `incident` has the new severity.'),
      changed_by: text('Person or webhook source that changed the severity.'),
      because: maybe(text('Report of the tool. Absent if a person changed the severity.')),
    }),
    forPeople: true,
    words({ incident: after, previous_severity: before, changed_by, because }) {
      const change = severityRises(before, after.severity) ? 'raised' : 'lowered';
      const stays = after.status === 'resolved' ? ', but it stays resolved' : '';
      return wordsAbout(after, `Severity ${change} from ${before} to ${after.severity}${stays}`, {
        Reported: because,
        'Changed by': changed_by,
      });
    },
    // Only people lower severities. `trigger` would reopen an alert that a person resolved in PagerDuty.
    alerts: (data) =>
      severityRises(data.previous_severity, data.incident.severity)
        ? ifOpen(data.incident, trigger)
        : ifOpen(data.incident, acknowledge),
  }),

  'incident.triaged': defineEvent({
    description: 'An incident was triaged, by a person or a run.',
    data: dataType('IncidentTriagedData', 'An incident, and its verdict.', {
      incident,
      verdict: maybe(
        field<DataOf<typeof VERDICT>>((options) => Nested(() => VERDICT.schema, options)),
        'Absent if a person triaged without a verdict.',
      ),
      recommended_actions: field<readonly string[]>(Texts),
      triaged_by: text('Person who triaged, or principal that requested the triage run.'),
    }),
    example: { status: 'triaged' },
    words: ({ incident: about, verdict, triaged_by, recommended_actions }) =>
      wordsAbout(about, `Incident triaged${verdict ? ` as ${verdict.classification}` : ''}`, {
        Category: verdict?.category,
        Confidence: verdict?.confidence?.toFixed(2),
        'Triaged by': triaged_by,
        Recommended: recommended_actions.join(', '),
      }),
    alerts: (data) =>
      ifOpen(data.incident, data.verdict?.decided_by === 'system' ? trigger : acknowledge),
  }),

  'incident.resolved': defineEvent({
    description: 'An incident was resolved.',
    data: dataType('IncidentResolvedData', 'An incident, and its resolution.', {
      incident,
      resolved_by: text('Principal that resolved the incident.'),
      resolution: maybe(text('Beginning of the resolution.')),
    }),
    example: { status: 'resolved' },
    words: (data) =>
      wordsAbout(data.incident, 'Incident resolved', {
        'Resolved by': data.resolved_by,
        Resolution: data.resolution,
      }),
    alerts: (data) => resolve(keyOf(data.incident)),
  }),

  'incident.reopened': defineEvent({
    description: 'A resolved incident was reopened.',
    data: dataType('IncidentReopenedData', 'An incident, and the principal who reopened it.', {
      incident,
      reopened_by: text('Principal that reopened the incident.'),
      previous_severity: maybe(severity('Present if the severity changed, too.')),
      because: maybe(text('Report of the tool. Absent if a person reopened the incident.')),
      resolved_by: maybe(text('Principal that had resolved the incident.')),
      resolved_at: maybe(instant('Time of the previous resolution.')),
      resolution: maybe(text('Beginning of the previous resolution.')),
    }),
    forPeople: true,
    words({ incident: after, previous_severity: before, ...data }) {
      const isRaised = before && severityRises(before, after.severity);
      const what = isRaised
        ? `Reopened and raised from ${before} to ${after.severity}`
        : 'Incident reopened';
      const { resolved_by, resolved_at } = data;
      const was = [resolved_by && `by ${resolved_by}`, resolved_at && `at ${resolved_at}`];
      const resolution = data.resolution && `: ${data.resolution}`;
      return wordsAbout(after, what, {
        Reported: data.because,
        'Was resolved':
          (resolved_by ?? resolved_at) && `${was.filter(Boolean).join(' ')}${resolution ?? ''}`,
        Status: after.status,
        'Reopened by': data.reopened_by,
      });
    },
    alerts: (data) => trigger(keyOf(data.incident)),
  }),

  'incident.deleted': defineEvent({
    description: 'An incident was deleted.',
    data: dataType('IncidentDeletedData', 'An incident, and the principal who deleted it.', {
      incident,
      deleted_by: text('Admin who deleted the incident.'),
    }),
    hasNoPage: true,
    words: (data) =>
      wordsAbout(data.incident, 'Incident deleted', { 'Deleted by': data.deleted_by }),
    alerts: (data) => resolve(keyOf(data.incident)),
  }),

  'triage.failed': defineEvent({
    description: 'A triage run ended without a verdict.',
    data: dataType('TriageFailedData', 'An incident, and the reason why it has no verdict.', {
      incident,
      triage_id: id('TriageRunId'),
      reason: maybe(text()),
      message: maybe(text()),
    }),
    example: { reason: 'timeout', message: 'The model did not answer in time.' },
    forPeople: true,
    words: (data) => ({
      ...wordsAbout(data.incident, 'Triage failed', { Why: data.message }),
      request: 'Triage this incident yourself, or start its triage again.',
    }),
    alerts: (data) => ifOpen(data.incident, trigger),
  }),
};

function wordsAbout(about: EventIncident, what: string, more: Facts = {}): EventWords {
  return {
    headline: `${what}: ${about.incident_number}`,
    about: about.title,
    facts: { Severity: about.severity, Type: about.incident_type, Source: about.source, ...more },
  };
}

const keyOf = ({ id }: EventIncident): string => `incident:${id}`;

/** A resolved incident pages nobody, because no later event would resolve its alert. */
function ifOpen(about: EventIncident, change: (key: string) => AlertChange[]): AlertChange[] {
  return about.status === 'resolved' ? [] : change(keyOf(about));
}
