import { ACTION_TYPES, type ActionTypeName } from '../../action-catalogue/action-types.js';
import {
  type Action,
  ACTION_STATUSES,
  ActionId,
  type ActionStatus,
  REQUIRED_LEVELS,
  type RequiredLevel,
  shownActionId,
} from '../action.js';
import {
  Choice,
  Flag,
  Instant,
  JsonObject,
  Nested,
  Reason,
  Text,
} from '../../platform/validation/fields.js';
import type { WantedAction } from '../requests/action-requests.js';
import { ActionResultDto } from './action-result.js';
import { IncidentReference } from '../../incidents/incident-reference.js';
import { SortWords, PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { sortsOf, sortWords } from '../../platform/paging/page.js';
import { Words } from '../../platform/validation/query-fields.js';
import {
  type ActionListRequest,
  SORT_FIELDS,
  type SortField,
} from '../listing/action-list.repository.js';

export const PARAMETERS_EXAMPLE = { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' };

export const REPEAT =
  'Requests the action even if the same action waits, runs, or was completed within `ACTION_REPEAT_MINUTES`.';

/** The contract has one schema for each action type instead: see ApiActionRequest. */
export class ActionRequestDto {
  @Choice('KnownActionType', ACTION_TYPES)
  readonly action: ActionTypeName;

  @JsonObject({ optional: true })
  readonly parameters?: Record<string, unknown>;

  @Flag({ optional: true, description: REPEAT })
  readonly repeat?: boolean;

  static toWanted(this: void, body: ActionRequestDto): WantedAction {
    const { action, parameters = {}, repeat } = body;
    return { action_type: action, parameters, repeat };
  }
}

export class ExecutedActionDto {
  @ActionId()
  readonly action_id: string;

  @Choice('ActionStatus', ACTION_STATUSES, { example: 'completed' })
  readonly status: ActionStatus;

  @Nested(() => ActionResultDto, {
    optional: true,
    description: 'Present after the action has ended.',
  })
  readonly result?: ActionResultDto;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description: 'Level that has to approve the action. Absent if it needs no approval.',
    example: 'senior',
  })
  readonly approval_level?: RequiredLevel;

  @Instant({
    optional: true,
    description: 'While the action waits for approval: last time at which it can be approved.',
    example: '2026-02-01T09:30:00.000Z',
  })
  readonly expires_at?: string;

  @Text({
    optional: true,
    description: 'While the action waits for approval: who can approve it.',
    example: 'isolate_host needs approval at level senior or higher.',
  })
  readonly message?: string;

  static from(this: void, action: Action): ExecutedActionDto {
    const { id, action_type, status, result, approval_level, expires_at } = action;
    return {
      action_id: shownActionId(id),
      status,
      result: result && ActionResultDto.from(result),
      approval_level,
      expires_at: expires_at?.toISOString(),
      message:
        status === 'pending_approval' ? whoMayApprove(action_type, approval_level) : undefined,
    };
  }
}

function whoMayApprove(type: ActionTypeName, level: RequiredLevel | undefined): string {
  return `${type} needs approval at level ${level}${level === 'manager' ? '' : ' or higher'}.`;
}

/** 202 while the work is not finished. An action that failed has finished: that is an outcome, and no error. */
export function statusOfExecution({ status }: Pick<Action, 'status'>): number {
  return status === 'pending' || status === 'pending_approval' ? 202 : 200;
}

export class ActionRollbackDto {
  @Reason({ max: 2_000, example: 'It was a false alarm.' })
  readonly reason: string;
}

export class RolledBackActionDto {
  @ActionId({
    description: 'Id of the rollback, an action of the inverse type.',
    example: 'act-0193f2b6-8d2f-7b1c-8f5f-3a1b8c7d6e5f',
  })
  readonly rollback_action_id: string;

  @ActionId()
  readonly original_action_id: string;

  @Choice('ActionStatus', ACTION_STATUSES, {
    description: 'Status of the rollback.',
    example: 'completed',
  })
  readonly status: ActionStatus;

  @Nested(() => ActionResultDto, {
    optional: true,
    description: 'Present after the action has ended.',
  })
  readonly result?: ActionResultDto;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description: 'Present if another person has to approve the rollback.',
  })
  readonly approval_level?: RequiredLevel;

  @Instant({
    optional: true,
    description: 'While the action waits for approval: last time at which it can be approved.',
    example: '2026-02-01T09:30:00.000Z',
  })
  readonly expires_at?: string;

  static from(this: void, action: Action): RolledBackActionDto {
    const { id, rollback_of, status, result, approval_level, expires_at } = action;
    return {
      rollback_action_id: shownActionId(id),
      original_action_id: shownActionId(rollback_of ?? ''),
      status,
      result: result && ActionResultDto.from(result),
      approval_level,
      expires_at: expires_at?.toISOString(),
    };
  }
}

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
      'Requested strictly after this time. With the `requested_at` of an action, that action is left out.',
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
    description: 'Execution ended strictly after this time.',
    example: '2026-01-31T09:30:00Z',
  })
  readonly executed_after?: string;

  @Instant({
    optional: true,
    description: 'Requested, decided or executed strictly after this time.',
    example: '2026-01-31T09:30:00Z',
  })
  readonly updated_after?: string;

  @SortWords('ActionSort', SORTS, {
    description:
      '`created_at` is another name of `requested_at`. Actions that were not executed come last in both directions.',
    example: ['status', '-requested_at'],
    otherNames: { created_at: 'requested_at' },
  })
  readonly sort: readonly (typeof SORTS)[number][] = ['-requested_at'];

  static toListRequest(this: void, query: IncidentActionsQueryDto): ActionListRequest {
    const { page, per_page, status, action_type, approval_level, sort } = query;
    const { requested_by, approved_by, created_after, created_before, executed_after } = query;
    const { updated_after } = query;
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
        updatedAfter: updated_after === undefined ? undefined : new Date(updated_after),
      },
      sort: sortsOf<SortField>(sort),
    };
  }
}

export class ActionQueryDto extends IncidentActionsQueryDto {
  @IncidentReference({
    optional: true,
    description: 'Only actions of this incident: its id or its number.',
  })
  readonly incident_id?: string;

  static toRequest(this: void, query: ActionQueryDto): ActionListRequest {
    const request = IncidentActionsQueryDto.toListRequest(query);
    return { ...request, filter: { ...request.filter, incidentId: query.incident_id } };
  }
}
