import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import type { PageRequest } from '../../platform/paging/page.js';
import type { Sort } from '../../platform/paging/sort-words.js';
import type { ActionStatus, RequiredLevel } from '../action.js';

export const SORT_FIELDS = [
  'requested_at',
  'created_at',
  'executed_at',
  'status',
  'action_type',
] as const;
export type SortField = (typeof SORT_FIELDS)[number];

export interface ActionFilter {
  readonly statuses?: readonly ActionStatus[];
  readonly types?: readonly ActionTypeName[];
  readonly levels?: readonly RequiredLevel[];
  readonly incidentId?: string;
  readonly requestedBy?: string;
  readonly approvedBy?: string;
  /** ISO 8601: requested strictly after, strictly before. */
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  /** Strictly after. */
  readonly executedAfter?: Date;
}

export interface ActionListRequest extends PageRequest {
  readonly filter: ActionFilter;
  readonly sort: readonly Sort<SortField>[];
}
