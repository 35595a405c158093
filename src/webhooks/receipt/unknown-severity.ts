import type { NewTimelineEntry } from '../../incidents/timeline/timeline-entry.js';
import type { ReadEvent } from '../reading/read-events.js';

/** What the timeline of an incident says about a severity word that nobody knows. */
export function unknownSeverityEntries(
  incidentId: string,
  actor: string,
  { unknownSeverity }: ReadEvent,
): NewTimelineEntry[] {
  if (unknownSeverity === undefined) return [];
  const summary = `The severity "${unknownSeverity}" is not known here, so it counts as medium.`;
  return [{ incidentId, event: 'severity_unknown', actor, summary }];
}
