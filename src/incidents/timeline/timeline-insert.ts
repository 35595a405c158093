import {
  type InsertedColumn,
  insertRows,
  valuesOfRows,
} from '../../platform/database/insert-rows.js';
import type { NewTimelineEntry } from './timeline-entry.js';

export interface TimelineRow extends NewTimelineEntry {
  readonly id: string;
  readonly at: Date;
}

const COLUMNS: readonly InsertedColumn<TimelineRow>[] = [
  { name: 'id', type: 'uuid', of: (row) => row.id },
  { name: 'incident_id', type: 'uuid', of: (row) => row.incidentId },
  { name: 'at', type: 'timestamptz', of: (row) => row.at.toISOString() },
  { name: 'event', type: 'text', of: (row) => row.event },
  { name: 'actor', type: 'text', of: (row) => row.actor },
  { name: 'summary', type: 'text', of: (row) => row.summary },
  { name: 'subject_type', type: 'text', of: ({ subject }) => subject?.type ?? null },
  { name: 'subject_id', type: 'text', of: ({ subject }) => subject?.id ?? null },
  {
    name: 'details',
    type: 'json',
    of: ({ details }) => (details ? JSON.stringify(details) : null),
  },
];

/** How many parameters the statement takes, from the first one given. */
export const TIMELINE_PARAMETERS = COLUMNS.length;

/** Any number of entries. */
export function insertTimeline(firstParameter = 1): string {
  return insertRows('incident_timeline', COLUMNS, firstParameter);
}

export function timelineValues(rows: readonly TimelineRow[]): unknown[] {
  return valuesOfRows(COLUMNS, rows);
}
