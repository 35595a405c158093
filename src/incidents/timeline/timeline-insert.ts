import type { TimelineNews } from './timeline-entry.js';

export interface TimelineRow extends TimelineNews {
  readonly id: string;
  readonly at: Date;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly of: (row: TimelineRow) => string | null;
}

const COLUMNS: readonly Column[] = [
  { name: 'id', type: 'uuid', of: (row) => row.id },
  { name: 'incident_id', type: 'uuid', of: (row) => row.incidentId },
  { name: 'at', type: 'timestamptz', of: (row) => row.at.toISOString() },
  { name: 'event', type: 'text', of: (row) => row.event },
  { name: 'actor', type: 'text', of: (row) => row.actor },
  { name: 'summary', type: 'text', of: (row) => row.summary },
  { name: 'subject_type', type: 'text', of: ({ subject }) => subject?.type ?? null },
  { name: 'subject_id', type: 'text', of: ({ subject }) => subject?.id ?? null },
];

/** How many parameters the statement takes, from the first one given. */
export const TIMELINE_PARAMETERS = COLUMNS.length;

/** Any number of entries. Stands alone, or as a CTE in the statement of the change, which saves a round trip. */
export function insertTimeline(firstParameter = 1): string {
  const names = COLUMNS.map(({ name }) => name).join(', ');
  const arrays = COLUMNS.map(({ type }, at) => `$${firstParameter + at}::${type}[]`).join(', ');
  return `insert into incident_timeline (${names}) select * from unnest(${arrays})`;
}

export function timelineValues(rows: readonly TimelineRow[]): unknown[] {
  return COLUMNS.map(({ of }) => rows.map(of));
}
