import { LONGEST_TOLD } from '../change-records.js';
import type { Incident } from '../incident.js';
import {
  type ChangedField,
  changesBetween,
  type FieldChange,
  isNoLongerCritical,
  isReopened,
  wasResolved,
  wasResolvedAnew,
  wasTriaged,
} from '../incident-changes.js';
import { shortened } from '../raw-data-text.js';
import type { NewTimelineEntry, TimelineDetails, TimelineSubject } from './timeline-entry.js';

/** Fields in the entry `updated`, in this order. */
const TOLD_FIELDS = [
  'severity',
  'status',
  'incident_type',
  'title',
  'resolution',
  'recommended_actions',
] as const satisfies readonly ChangedField[];

export function timelineOfChange(
  before: Incident,
  after: Incident,
  actor: string,
  subject?: TimelineSubject,
): NewTimelineEntry[] {
  const entries: NewTimelineEntry[] = [];
  /** Adds an entry. The entry `updated` does not repeat its `fields`. */
  const add = (event: string, summary: string, fields: string[], details?: TimelineDetails) => {
    entries.push({ incidentId: after.id, actor, subject, event, summary, details });
    told.push(...fields);
  };
  const told: string[] = [];
  const resolution = after.resolution ?? undefined;
  const resolutionChanges = () =>
    changesBetween(before, after, ['status', 'resolution', 'resolved_by']);
  // The incident is reopened before the verdict.
  if (isReopened(before, after)) {
    const now = resolution ? ` New resolution: ${quoted(resolution)}.` : '';
    const summary = `Reopened, status ${after.status}.${now} ${earlierResolution(before)}`;
    add('reopened', summary, ['status', 'resolution'], { changes: resolutionChanges() });
  }
  if (wasTriaged(before, after)) {
    add('triaged', verdictInWords(after), after.status === 'triaged' ? ['status'] : []);
  }
  if (wasResolved(before, after)) {
    const summary = resolution ? `Resolved: ${shortened(resolution, LONGEST_TOLD)}` : 'Resolved.';
    add('resolved', summary, ['status', 'resolution'], resolution ? { resolution } : undefined);
  }
  if (wasResolvedAnew(before, after)) {
    const summary = `Replaced the resolution with ${quoted(resolution)}. ${earlierResolution(before)}`;
    add('resolved', summary, ['resolution'], { resolution, changes: resolutionChanges() });
  }
  if (isNoLongerCritical(before, after)) {
    const summary = `Lowered the severity from ${before.severity} to ${after.severity}.`;
    const changes = changesBetween(before, after, ['severity']);
    add('severity_lowered', summary, ['severity'], { changes });
  }
  const untold = TOLD_FIELDS.filter((field) => !told.includes(field));
  const changes = changesBetween(before, after, untold);
  if (changes.length > 0) add('updated', changesInWords(changes), [], { changes });
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

function changesInWords(changes: readonly FieldChange[]): string {
  const lost = changes.find(({ field, to }) => field === 'resolution' && to === undefined);
  const words = changes.filter((change) => change !== lost).map(changeInWords);
  const changed = `Changed ${words.join(', ')}.`;
  if (!lost) return changed;
  const was = shortened(String(lost.from), LONGEST_TOLD);
  return words.length > 0
    ? `${changed} The previous resolution was: ${was}`
    : `Removed the resolution: ${was}`;
}

function changeInWords({ field, from, to }: FieldChange): string {
  switch (field) {
    case 'recommended_actions':
      return 'the recommended actions';
    case 'resolution':
    case 'title':
      return `${field}${from === undefined ? '' : ` from ${quoted(from)}`} to ${quoted(to)}`;
    default:
      return `${field.replace('incident_', '')} from ${String(from)} to ${String(to)}`;
  }
}

const quoted = (text: unknown) => JSON.stringify(shortened(String(text), LONGEST_TOLD));
