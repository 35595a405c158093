import type { PageRequest } from '../../platform/paging/page.js';
import type { Sort } from '../../platform/paging/sort-words.js';
import type { Classification, IncidentStatus, Severity } from '../incident.js';

export const SORT_FIELDS = [
  'created_at',
  'updated_at',
  'triaged_at',
  'severity',
  'status',
  'incident_type',
  'source',
  'incident_number',
  'resolved_at',
] as const;
export type SortField = (typeof SORT_FIELDS)[number];

/** Nothing, or an empty choice, filters nothing. */
export interface IncidentFilter {
  readonly statuses?: readonly IncidentStatus[];
  readonly severities?: readonly Severity[];
  readonly types?: readonly string[];
  readonly sources?: readonly string[];
  /** ISO 8601: created strictly after, strictly before. */
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  /** As they are shown: `INC-2026-0042`. */
  readonly numbers?: readonly string[];
  readonly classifications?: readonly Classification[];
  /** Like the bounds of created_at. */
  readonly updatedAfter?: string;
  readonly resolvedAfter?: string;
  readonly resolvedBefore?: string;
}

export interface IncidentListRequest extends PageRequest {
  readonly filter: IncidentFilter;
  readonly sort: readonly Sort<SortField>[];
}
