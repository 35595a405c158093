import { changeableValues, type ChangedField, LONGEST_TOLD } from '../change-records.js';
import type { Incident } from '../incident.js';
import {
  isNoLongerCritical,
  isReopened,
  wasResolved,
  wasResolvedAnew,
  wasTriaged,
} from '../incident-changes.js';
import { shortened } from '../raw-data-text.js';
import type { NewTimelineEntry, TimelineChange, TimelineSubject } from './timeline-entry.js';

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
  const anew = wasResolvedAnew(before, after);
  const lowered = isNoLongerCritical(before, after);
  // The entry `updated` does not repeat other entries.
  const statusIsSaid = resolved || reopened || (triaged && after.status === 'triaged');
  const changes = changesOf(before, {
    ...after,
    status: statusIsSaid ? before.status : after.status,
    resolution: resolved || anew || reopened ? before.resolution : after.resolution,
    severity: lowered ? before.severity : after.severity,
  });
  const lowering = changesOf(before, { ...before, severity: after.severity });
  const updated =
    changes.length > 0
      ? [{ ...about, event: 'updated', summary: changesInWords(changes), details: { changes } }]
      : [];
  return [
    // The incident is reopened before the verdict.
    ...(reopened ? [{ ...about, event: 'reopened', ...reopeningTold(before, after) }] : []),
    ...(triaged ? [{ ...about, event: 'triaged', summary: verdictInWords(after) }] : []),
    ...(resolved ? [{ ...about, event: 'resolved', ...resolutionTold(after) }] : []),
    ...(anew ? [{ ...about, event: 'resolved', ...newResolutionTold(before, after) }] : []),
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
    ...updated,
  ];
}

function resolutionTold({ resolution }: Incident): Told {
  if (!resolution) return { summary: 'Resolved.' };
  const details = { resolution };
  return { summary: `Resolved: ${shortened(resolution, LONGEST_TOLD)}`, details };
}

type Told = Pick<NewTimelineEntry, 'summary' | 'details'>;

function reopeningTold(before: Incident, after: Incident): Told {
  const now = after.resolution ? ` New resolution: ${told(after.resolution)}.` : '';
  return {
    summary: `Reopened, status ${after.status}.${now} ${earlierResolution(before)}`,
    details: { changes: resolutionChanges(before, after) },
  };
}

function newResolutionTold(before: Incident, after: Incident): Told {
  return {
    summary: `Replaced the resolution with ${told(after.resolution)}. ${earlierResolution(before)}`,
    details: {
      resolution: after.resolution ?? undefined,
      changes: resolutionChanges(before, after),
    },
  };
}

function earlierResolution({ resolved_by, resolved_at, resolution }: Incident): string {
  const by = resolved_by ? ` by ${resolved_by}` : '';
  const at = resolved_at ? ` at ${resolved_at.toISOString()}` : '';
  const words = resolution ? `: ${shortened(resolution, LONGEST_TOLD)}` : '.';
  return `It was resolved${by}${at}${words}`;
}

function resolutionChanges(before: Incident, after: Incident): TimelineChange[] {
  return [
    ...changed('status', before.status, after.status),
    ...changed('resolution', before.resolution, after.resolution),
    ...changed('resolved_by', before.resolved_by, after.resolved_by),
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

function changed(field: string, was: unknown, is: unknown): TimelineChange[] {
  const [from, to] = [was ?? undefined, is ?? undefined];
  return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ field, from, to }];
}

/** Fields in the entry `updated`, in this order. */
const TOLD_FIELDS = [
  'severity',
  'status',
  'incident_type',
  'title',
  'resolution',
  'recommended_actions',
] as const satisfies readonly ChangedField[];

function changesOf(before: Incident, after: Incident): TimelineChange[] {
  const [was, is] = [changeableValues(before), changeableValues(after)];
  return TOLD_FIELDS.flatMap((field) => changed(field, was[field], is[field]));
}

function changesInWords(changes: readonly TimelineChange[]): string {
  const lost = changes.find(({ field, to }) => field === 'resolution' && to === undefined);
  const words = changes.filter((change) => change !== lost).map(changeInWords);
  const changed = `Changed ${words.join(', ')}.`;
  if (!lost) return changed;
  const was = shortened(String(lost.from), LONGEST_TOLD);
  return words.length > 0
    ? `${changed} The previous resolution was: ${was}`
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
