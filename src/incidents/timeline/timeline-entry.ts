import type { FieldChange } from '../incident-changes.js';
import type { PageRequest } from '../../platform/paging/page.js';
import {
  type InsertedColumn,
  insertRows,
  valuesOfRows,
} from '../../platform/database/statements.js';

/** Second subject of an entry. `type` is a word such as `action`, `triage` or `webhook_event`. */
export interface TimelineSubject {
  readonly type: string;
  readonly id: string;
}

/** Facts behind an entry, for readers and programs. */
export interface TimelineDetails {
  readonly action_type?: string;
  /** Target of the action, cut if it is long. */
  readonly target?: string;
  /** Parameters of a requested action. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** Action that this action rolls back. */
  readonly rollback_of?: string;
  /** Reason of a request, rollback or rejection. */
  readonly reason?: string;
  /** Comment of the approver. */
  readonly comment?: string;
  readonly resolution?: string;
  readonly changes?: readonly FieldChange[];
}

/** A timeline entry as readers see it. */
export interface TimelineEntry {
  readonly at: Date;
  /** Event name in the past tense: `updated`, `triaged`, `action_requested`. */
  readonly event: string;
  readonly actor: string;
  readonly summary: string;
  readonly subject?: TimelineSubject;
  readonly details?: TimelineDetails;
}

export interface NewTimelineEntry extends Omit<TimelineEntry, 'at'> {
  readonly incidentId: string;
}

export interface TimelineRequest extends PageRequest {
  readonly newestFirst?: boolean;
}

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

/** Number of parameters of the statement. */
export const TIMELINE_PARAMETERS = COLUMNS.length;

/** Inserts any number of entries. */
export function insertTimeline(firstParameter = 1): string {
  return insertRows('incident_timeline', COLUMNS, firstParameter);
}

export function timelineValues(rows: readonly TimelineRow[]): unknown[] {
  return valuesOfRows(COLUMNS, rows);
}
