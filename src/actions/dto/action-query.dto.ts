import { IncidentReference } from '../../incidents/incident-reference.js';
import { SortWords } from '../../platform/paging/sort-query.js';
import { sortsOf, sortWords } from '../../platform/paging/sort-words.js';
import { ACTION_TYPES, type ActionTypeName } from '../../action-catalogue/action-types.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { Instant, Text } from '../../platform/validation/fields.js';
import { Words } from '../../platform/validation/query-fields.js';
import {
  ACTION_STATUSES,
  type ActionStatus,
  REQUIRED_LEVELS,
  type RequiredLevel,
} from '../action.js';
import { type ActionListRequest, SORT_FIELDS, type SortField } from '../listing/action-list.js';

const SORTS = sortWords(...SORT_FIELDS);

const PrincipalName = (description: string) =>
  Text({ optional: true, min: 1, max: 300, description, example: 'alice' });

/** What every list of actions takes. */
export class IncidentActionsQueryDto extends PageQueryDto {
  @Words('ActionStatus', ACTION_STATUSES, { optional: true, example: ['pending_approval'] })
  readonly status?: readonly ActionStatus[];

  @Words('KnownActionType', ACTION_TYPES, {
    optional: true,
    example: ['quarantine_email', 'block_sender'],
  })
  readonly action_type?: readonly ActionTypeName[];

  @Words('RequiredLevel', REQUIRED_LEVELS, { optional: true, example: ['senior'] })
  readonly approval_level?: readonly RequiredLevel[];

  @PrincipalName('Requested by this principal, as records show the name.')
  readonly requested_by?: string;

  @PrincipalName('Approved by this principal, as records show the name.')
  readonly approved_by?: string;

  @Instant({
    optional: true,
    description:
      'Requested strictly after this time: a requested_at that was answered leaves its own action out.',
    example: '2026-01-31T00:00:00Z',
  })
  readonly created_after?: string;

  @Instant({
    optional: true,
    description: 'Requested strictly before this time.',
    example: '2026-02-01T00:00:00Z',
  })
  readonly created_before?: string;

  @Instant({
    optional: true,
    description: 'Whose execution ended strictly after this time.',
    example: '2026-01-31T09:30:00Z',
  })
  readonly executed_after?: string;

  @SortWords('ActionSort', SORTS, {
    description:
      'created_at is another name of requested_at; what was not executed comes last either way.',
    example: ['status', '-requested_at'],
    otherNames: { created_at: 'requested_at' },
  })
  readonly sort: readonly (typeof SORTS)[number][] = ['-requested_at'];

  static toListRequest(this: void, query: IncidentActionsQueryDto): ActionListRequest {
    const { page, per_page, status, action_type, approval_level, sort } = query;
    const { requested_by, approved_by, created_after, created_before, executed_after } = query;
    return {
      page,
      per_page,
      filter: {
        statuses: status,
        types: action_type,
        levels: approval_level,
        requestedBy: requested_by,
        approvedBy: approved_by,
        createdAfter: created_after,
        createdBefore: created_before,
        // As a moment: PostgreSQL does not read every zone that a time may be written in.
        executedAfter: executed_after === undefined ? undefined : new Date(executed_after),
      },
      sort: sortsOf<SortField>(sort),
    };
  }
}

export class ActionQueryDto extends IncidentActionsQueryDto {
  @IncidentReference({
    optional: true,
    description: 'Of this incident alone: its id, or its number.',
  })
  readonly incident_id?: string;

  static toRequest(this: void, query: ActionQueryDto): ActionListRequest {
    const request = IncidentActionsQueryDto.toListRequest(query);
    return { ...request, filter: { ...request.filter, incidentId: query.incident_id } };
  }
}
