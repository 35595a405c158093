import { CHANGED_FIELDS } from '../../incidents/incident-changes.js';
import { CLASSIFICATIONS, INCIDENT_STATUSES, severityRises } from '../../incidents/incident.js';
import { Decimal, Nested, OpenChoices, Texts } from '../../platform/validation/fields.js';
import { type Alerts, defineEvent, type Facts, type Words } from './define-event.js';
import * as t from './event-data.js';

const INCIDENT = t.data('EventIncident', 'An incident at the time of the event.', {
  id: t.subjectId('IncidentId'),
  incident_number: t.incidentNumber,
  title: t.text(),
  incident_type: t.text(),
  severity: t.severity(),
  status: t.maybe(t.choice('IncidentStatus', INCIDENT_STATUSES)),
  source: t.text(),
  url: t.apiUrl('incident'),
});
export type EventIncident = t.DataOf<typeof INCIDENT>;
const incident = t.nested(INCIDENT);

const VERDICT = t.data('EventVerdict', 'Summary of a verdict.', {
  classification: t.choice('Classification', CLASSIFICATIONS),
  confidence: t.maybe(t.field<number>((options) => Decimal({ ...options, min: 0, max: 1 }))),
  category: t.maybe(t.text()),
  decided_by: t.text('Author of the verdict: a person or the system.'),
});

export const INCIDENT_EVENT_TYPES = {
  'incident.created': defineEvent({
    description: 'An incident was created.',
    data: t.data('IncidentData', 'The incident of an event.', { incident }),
    forPeople: true,
    words: (data) => wordsAbout(data.incident, 'New incident'),
    alerts: (data) => ({ trigger: keyOf(data.incident) }),
  }),

  'incident.updated': defineEvent({
    description: 'A field of an incident changed, or its tool reported it again.',
    data: t.data('IncidentUpdatedData', 'Changed fields of an incident, and their author.', {
      incident,
      updated_by: t.text('A person, a webhook source, or the system.'),
      changed: t.field<readonly string[]>(
        (options) => OpenChoices('ChangedField', CHANGED_FIELDS, options),
        'Changed fields. Empty if the tool only reported further data.',
      ),
    }),
    words: (data) =>
      wordsAbout(data.incident, 'Incident updated', {
        Changed: data.changed.join(', ') || 'its tool reported more',
        'Updated by': data.updated_by,
      }),
    // No alert: all changes that must page people also have a separate event.
    alerts: () => ({}),
  }),

  'incident.severity_changed': defineEvent({
    description: 'The severity of an incident was raised or lowered.',
    data: t.data('IncidentSeverityChangedData', 'An incident, and its previous severity.', {
      incident,
      previous_severity: t.severity('Severity before the change. `incident` has the new severity.'),
      changed_by: t.text('Person or webhook source that changed the severity.'),
      because: t.maybe(
        t.text(
          'Report in which the tool changed the severity. Absent if a person changed the severity.',
        ),
      ),
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
    // A lower severity acknowledges the alert, because only people lower a severity. `trigger` could reopen the alert.
    alerts: (data) =>
      severityRises(data.previous_severity, data.incident.severity)
        ? ifOpen(data.incident, 'trigger')
        : ifOpen(data.incident, 'acknowledge'),
  }),

  'incident.triaged': defineEvent({
    description: 'An incident was triaged, by a person or a run.',
    data: t.data('IncidentTriagedData', 'An incident, and its verdict.', {
      incident,
      verdict: t.maybe(
        t.field<t.DataOf<typeof VERDICT>>(
          (options) => Nested(() => VERDICT.schema, options),
          'Absent if a person triaged without a verdict.',
        ),
      ),
      recommended_actions: t.field<readonly string[]>(Texts),
      triaged_by: t.text('Person who triaged, or principal that requested the triage run.'),
    }),
    words: ({ incident: about, verdict, triaged_by, recommended_actions }) =>
      wordsAbout(about, `Incident triaged${verdict ? ` as ${verdict.classification}` : ''}`, {
        Category: verdict?.category,
        Confidence: verdict?.confidence?.toFixed(2),
        'Triaged by': triaged_by,
        Recommended: recommended_actions.join(', '),
      }),
    alerts: (data) =>
      ifOpen(data.incident, data.verdict?.decided_by === 'system' ? 'trigger' : 'acknowledge'),
  }),

  'incident.resolved': defineEvent({
    description: 'An incident was resolved.',
    data: t.data('IncidentResolvedData', 'An incident, and its resolution.', {
      incident,
      resolved_by: t.text('Principal that resolved the incident.'),
      resolution: t.maybe(t.text('Beginning of the resolution.')),
    }),
    words: (data) =>
      wordsAbout(data.incident, 'Incident resolved', {
        'Resolved by': data.resolved_by,
        Resolution: data.resolution,
      }),
    alerts: (data) => ({ resolve: keyOf(data.incident) }),
  }),

  'incident.reopened': defineEvent({
    description: 'A resolved incident was reopened.',
    data: t.data('IncidentReopenedData', 'An incident, and the principal who reopened it.', {
      incident,
      reopened_by: t.text('Principal that reopened the incident.'),
      previous_severity: t.maybe(t.severity('Present if the severity changed, too.')),
      because: t.maybe(t.text('Report of the tool. Absent if a person reopened the incident.')),
      resolved_by: t.maybe(t.text('Principal that had resolved the incident.')),
      resolved_at: t.maybe(t.instant('Time of the previous resolution.')),
      resolution: t.maybe(t.text('Beginning of the previous resolution.')),
    }),
    forPeople: true,
    words({ incident: after, previous_severity: before, ...data }) {
      const isRaised = before && severityRises(before, after.severity);
      const heading = isRaised
        ? `Reopened and raised from ${before} to ${after.severity}`
        : 'Incident reopened';
      const { resolved_by, resolved_at } = data;
      const was = [resolved_by && `by ${resolved_by}`, resolved_at && `at ${resolved_at}`];
      const resolution = data.resolution && `: ${data.resolution}`;
      return wordsAbout(after, heading, {
        Reported: data.because,
        'Was resolved':
          (resolved_by ?? resolved_at) && `${was.filter(Boolean).join(' ')}${resolution ?? ''}`,
        Status: after.status,
        'Reopened by': data.reopened_by,
      });
    },
    alerts: (data) => ({ trigger: keyOf(data.incident) }),
  }),

  'incident.deleted': defineEvent({
    description: 'An incident was deleted.',
    data: t.data('IncidentDeletedData', 'An incident, and the principal who deleted it.', {
      incident,
      deleted_by: t.text('Admin who deleted the incident.'),
    }),
    hasNoPage: true,
    words: (data) =>
      wordsAbout(data.incident, 'Incident deleted', { 'Deleted by': data.deleted_by }),
    alerts: (data) => ({ resolve: keyOf(data.incident) }),
  }),

  'triage.failed': defineEvent({
    description: 'A triage run ended without a verdict.',
    data: t.data('TriageFailedData', 'An incident, and the reason why it has no verdict.', {
      incident,
      triage_id: t.id('TriageRunId'),
      reason: t.maybe(t.text()),
      message: t.maybe(t.text()),
    }),
    forPeople: true,
    words: (data) => ({
      ...wordsAbout(data.incident, 'Triage failed', { Why: data.message }),
      request: 'Triage this incident yourself, or start its triage again.',
    }),
    alerts: (data) => ifOpen(data.incident, 'trigger'),
  }),
};

function wordsAbout(about: EventIncident, heading: string, more: Facts = {}): Words {
  return {
    headline: `${heading}: ${about.incident_number}`,
    about: about.title,
    facts: { Severity: about.severity, Type: about.incident_type, Source: about.source, ...more },
  };
}

const keyOf = ({ id }: EventIncident): string => `incident:${id}`;

/** Returns no alert for a resolved incident, because no later event would resolve that alert. */
function ifOpen(about: EventIncident, change: keyof Alerts): Alerts {
  return about.status === 'resolved' ? {} : { [change]: keyOf(about) };
}
