import { OmitType, PickType } from '@nestjs/swagger';
import { present } from '../platform/validation/present.js';
import {
  Choice,
  Flag,
  JsonObject,
  Text,
  Instant,
  Nested,
  Reason,
  NestedList,
  OpenChoice,
  Texts,
} from '../platform/validation/fields.js';
import {
  type Action,
  ACTION_FEED_EVENTS,
  ActionEntity,
  withShownIds,
  ACTION_STATUSES,
  ActionId,
  type ActionStatus,
  REQUIRED_LEVELS,
  type RequiredLevel,
  shownActionId,
} from './action.js';
import { SORT_FIELDS } from './actions.js';
import { ACTION_TYPES, type ActionTypeName } from '../action-catalogue/action-types.js';
import {
  FORMATS,
  PARAMETER_FORMATS,
  type ParameterFormat,
} from '../action-catalogue/parameters.js';
import { IncidentReference } from '../incidents/incident-reference.js';
import { sortWords, SortWords, PageQueryDto } from '../platform/paging/page.js';
import { Words } from '../platform/validation/query-fields.js';
import type { FeedPage } from '../audit/changes/change-feed.js';
import { ChangeOf, ChangesPageDto } from '../audit/changes/feed-api.js';

/** The contract has one schema for each action type instead: see scripts/contract/actions.ts. */
export class ActionRequestDto {
  @Choice('KnownActionType', ACTION_TYPES)
  readonly action: ActionTypeName;

  @JsonObject({ optional: true })
  readonly parameters?: Record<string, unknown>;

  @Flag({
    optional: true,
    description: 'Requests the action even if the same action is running or recent.',
  })
  readonly repeat?: boolean;
}

export class ActionSummaryDto extends OmitType(ActionEntity, [
  'authors',
  'connector_id',
  'reason',
  'rejection_code',
  'reminded_at',
  'target_hash',
]) {}

/** Generated clients use different names for an action in a list and a single action. */
export class ActionDto extends ActionSummaryDto {}

const OUTCOME = ['status', 'result', 'approval_level', 'expires_at'] as const;
class ActionOutcomeDto extends PickType(ActionSummaryDto, OUTCOME) {}

export class ExecutedActionDto extends ActionOutcomeDto {
  @ActionId()
  readonly action_id: string;

  @Text({ optional: true, description: 'While the action waits for approval: who can approve it.' })
  readonly message?: string;
}

export class RolledBackActionDto extends ActionOutcomeDto {
  @ActionId({ description: 'Id of the rollback, an action of the inverse type.' })
  readonly rollback_action_id: string;

  @ActionId()
  readonly original_action_id: string;
}

const presentFields = present(ActionSummaryDto);
const presentOutcome = present(ExecutedActionDto);
const presentRolledBack = present(RolledBackActionDto);

export const presentSummary = (action: Action): ActionSummaryDto =>
  presentFields(withShownIds(action));

export function presentExecuted(action: Action): ExecutedActionDto {
  const { status, action_type, approval_level: level } = action;
  const approvers = `level ${level}${level === 'manager' ? '' : ' or higher'}`;
  const message =
    status === 'pending_approval' ? `${action_type} needs approval at ${approvers}.` : undefined;
  return presentOutcome({ ...action, action_id: shownActionId(action.id), message });
}

export function presentRollback(rollback: Action): RolledBackActionDto {
  const { id: rollback_action_id, rollback_of: original_action_id = '' } = withShownIds(rollback);
  return presentRolledBack({ ...rollback, rollback_action_id, original_action_id });
}

const LONGEST_TEXT = 2_000;

export class ActionRollbackDto {
  @Reason({ max: LONGEST_TEXT })
  readonly reason: string;
}

export class ActionApprovalDto {
  @Text({ optional: true, max: LONGEST_TEXT })
  readonly comment?: string;

  @Flag({
    optional: true,
    default: false,
    description: 'Approves the action even if its incident is resolved.',
  })
  readonly confirm_resolved?: boolean;
}

export class ActionRejectionDto {
  @Reason({ max: LONGEST_TEXT })
  readonly reason: string;
}

export class ApprovedActionDto extends PickType(ActionSummaryDto, ['id', 'status', 'result']) {
  @Text()
  readonly approved_by: string;

  @Instant()
  readonly approved_at: Date;
}

export class RejectedActionDto extends PickType(ActionSummaryDto, ['id', 'status']) {
  @Text()
  readonly rejected_by: string;

  @Instant()
  readonly rejected_at: Date;

  @Text()
  readonly rejection_reason: string;
}

const SORTS = sortWords(...SORT_FIELDS);

const PrincipalName = (description: string) =>
  Text({ optional: true, min: 1, max: 300, description });

export class IncidentActionsQueryDto extends PageQueryDto {
  @Words('ActionStatus', ACTION_STATUSES, { optional: true })
  readonly status?: readonly ActionStatus[];

  @Words('KnownActionType', ACTION_TYPES, { optional: true })
  readonly action_type?: readonly ActionTypeName[];

  @Words('RequiredLevel', REQUIRED_LEVELS, { optional: true })
  readonly approval_level?: readonly RequiredLevel[];

  @PrincipalName('Requested by this principal, as records show the name.')
  readonly requested_by?: string;

  @PrincipalName('Approved by this principal, as records show the name.')
  readonly approved_by?: string;

  @Instant({
    optional: true,
    description:
      'Requested strictly after this time. With the `requested_at` of an action, that action is left out.',
  })
  readonly created_after?: string;

  @Instant({ optional: true, description: 'Requested strictly before this time.' })
  readonly created_before?: string;

  @Instant({ optional: true, description: 'Execution ended strictly after this time.' })
  readonly executed_after?: string;

  @Instant({
    optional: true,
    description: 'Requested, decided or executed strictly after this time.',
  })
  readonly updated_after?: string;

  @SortWords('ActionSort', SORTS, {
    description:
      '`created_at` is another name of `requested_at`. Actions that were not executed come last in both directions.',
    otherNames: { created_at: 'requested_at' },
  })
  readonly sort: readonly (typeof SORTS)[number][] = ['-requested_at'];
}

export class ActionQueryDto extends IncidentActionsQueryDto {
  @IncidentReference({
    optional: true,
    description: 'Only actions of this incident: its id or its number.',
  })
  readonly incident_id?: string;
}

class ActionParameterDto {
  @Text()
  readonly name: string;

  @Choice('ActionParameterType', ['string', 'integer'])
  readonly type: 'string' | 'integer';

  @Flag()
  readonly required: boolean;

  @Texts({ optional: true, description: 'Allowed values, if the set is closed.' })
  readonly values?: readonly string[];

  @Choice('ActionParameterFormat', PARAMETER_FORMATS, {
    optional: true,
    description: [
      'Format of the string:',
      ...PARAMETER_FORMATS.map((format) => `- \`${format}\`: ${FORMATS[format].words}`),
    ].join('\n'),
  })
  readonly format?: ParameterFormat;
}

export class ActionTypeDto {
  @OpenChoice('ActionTypeName', ACTION_TYPES)
  readonly name: string;

  @Text()
  readonly description: string;

  @Text({
    description:
      'email, endpoint, identity, network, intelligence, ticketing or notification; an open set.',
  })
  readonly category: string;

  @Flag()
  readonly supports_rollback: boolean;

  @OpenChoice('ActionTypeName', ACTION_TYPES, {
    optional: true,
    description: 'Type of the rollback.',
  })
  readonly rolled_back_by?: string;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description: 'Level that this site requires by default. Absent if the type needs no approval.',
  })
  readonly default_approval_level?: RequiredLevel;

  @NestedList(() => ActionParameterDto)
  readonly parameters: readonly ActionParameterDto[];

  @Flag({ description: 'Whether an enabled connector provides the type.' })
  readonly available: boolean;
}

class ActionChangeDto extends ChangeOf('Action', ACTION_FEED_EVENTS) {
  @ActionId()
  readonly action_id: string;

  @Nested(() => ActionSummaryDto, {
    optional: true,
    description: 'Current state of the action, which may be later than the change.',
  })
  readonly action?: ActionSummaryDto;
}

export class ActionChangesDto extends ChangesPageDto {
  @NestedList(() => ActionChangeDto, { description: 'At most `limit`; may be empty.' })
  readonly changes: readonly ActionChangeDto[];
}

const presentPage = present(ActionChangesDto);

export const presentChanges = ({ changes, ...page }: FeedPage<Action>): ActionChangesDto =>
  presentPage({
    ...page,
    changes: changes.map(({ item, subject_id: action_id, ...change }) => {
      return { ...change, action_id, action: item && withShownIds(item) };
    }),
  });
