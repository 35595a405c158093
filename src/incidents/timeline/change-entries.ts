import { isNoLongerCritical, isReopened, wasResolved, wasTriaged } from '../incident-changes.js';
import type { Incident } from '../incident.js';
import { shortened } from '../title-text.js';
import type { NewTimelineEntry, TimelineChange, TimelineSubject } from './timeline-entry.js';

/** Of a text in the words of an entry; its details have all of it. */
const LONGEST_TOLD = 1_000;

export function timelineOfChange(
  before: Incident,
  after: Incident,
  actor: string,
  subject?: TimelineSubject,
): NewTimelineEntry[] {
  const about = { incidentId: after.id, actor, subject };
  const triaged = wasTriaged(before, after);
  const reopened = isReopened(before, after);
  const resolved = wasResolved(before, after);
  const lowered = isNoLongerCritical(before, after);
  // The entry `updated` says nothing that another entry says.
  const statusIsSaid = resolved || (triaged && after.status === 'triaged' && !reopened);
  const changes = changesOf(before, {
    ...after,
    status: statusIsSaid ? before.status : after.status,
    resolution: resolved ? before.resolution : after.resolution,
    severity: lowered ? before.severity : after.severity,
  });
  const lowering = changesOf(before, { ...before, severity: after.severity });
  const updated =
    changes.length > 0
      ? [{ ...about, event: 'updated', summary: changesInWords(changes), details: { changes } }]
      : [];
  return [
    // It is open again before somebody judges it anew.
    ...(reopened ? updated : []),
    ...(triaged ? [{ ...about, event: 'triaged', summary: verdictInWords(after) }] : []),
    ...(resolved ? [{ ...about, event: 'resolved', ...resolutionTold(after) }] : []),
    ...(lowered
      ? [
          {
            ...about,
            event: 'severity_lowered',
            summary: loweredInWords(before, after),
            details: { changes: lowering },
          },
        ]
      : []),
    ...(reopened ? [] : updated),
  ];
}

function resolutionTold({ resolution }: Incident): Pick<NewTimelineEntry, 'summary' | 'details'> {
  if (!resolution) return { summary: 'Resolved.' };
  const details = { resolution };
  return { summary: `Resolved: ${shortened(resolution, LONGEST_TOLD)}`, details };
}

function loweredInWords(before: Incident, after: Incident): string {
  return `Lowered the severity from ${before.severity} to ${after.severity}.`;
}

function verdictInWords({ verdict }: Incident): string {
  if (!verdict) return 'Triaged without a verdict.';
  const { classification, category } = verdict;
  return `Triaged as ${classification}${category ? ` (${category})` : ''}.`;
}

function changesOf(before: Incident, after: Incident): TimelineChange[] {
  const changed = (field: string, from: unknown, to: unknown): TimelineChange[] =>
    JSON.stringify(from) === JSON.stringify(to) ? [] : [{ field, from, to }];
  return [
    ...changed('severity', before.severity, after.severity),
    ...changed('status', before.status, after.status),
    ...changed('incident_type', before.incidentType, after.incidentType),
    ...changed('title', before.title, after.title),
    ...changed('resolution', before.resolution, after.resolution),
    ...changed('recommended_actions', before.recommendedActions, after.recommendedActions),
  ];
}

function changesInWords(changes: readonly TimelineChange[]): string {
  const lost = changes.find(({ field, to }) => field === 'resolution' && to === undefined);
  const words = changes.filter((change) => change !== lost).map(changeInWords);
  const changed = `Changed ${words.join(', ')}.`;
  if (!lost) return changed;
  const was = shortened(String(lost.from), LONGEST_TOLD);
  return words.length > 0
    ? `${changed} It was resolved so: ${was}`
    : `Removed the resolution: ${was}`;
}

function changeInWords({ field, from, to }: TimelineChange): string {
  switch (field) {
    case 'recommended_actions':
      return 'the recommended actions';
    case 'resolution':
    case 'title':
      return `${field}${from === undefined ? '' : ` from ${told(from)}`} to ${told(to)}`;
    default:
      return `${field.replace('incident_', '')} from ${String(from)} to ${String(to)}`;
  }
}

const told = (text: unknown) => JSON.stringify(shortened(String(text), LONGEST_TOLD));
