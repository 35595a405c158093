import { PickType } from '@nestjs/swagger';
import { present } from '../platform/validation/present.js';
import {
  Choice,
  Flag,
  JsonObject,
  Text,
  Instant,
  Nested,
  Reason,
  Id,
  NestedList,
  OpenChoice,
} from '../platform/validation/fields.js';
import {
  type Action,
  ACTION_FEED_EVENTS,
  ActionPreviewDto,
  ActionResultDto,
  withShownIds,
  ACTION_STATUSES,
  ActionId,
  type ActionStatus,
  REQUIRED_LEVELS,
  type RequiredLevel,
  shownActionId,
} from './action.js';
import { ACTION_TYPES, type ActionTypeName } from '../action-catalogue/action-types.js';
import { IncidentReference } from '../incidents/incident-reference.js';
import { sortWords, SortWords, PageQueryDto } from '../platform/paging/page.js';
import { Words } from '../platform/validation/query-fields.js';
import {
  INCIDENT_STATUSES,
  type IncidentStatus,
  SEVERITIES,
  type Severity,
} from '../incidents/incident.js';
import type { FeedPage } from '../audit/changes/change-feed.js';
import { ChangeOf, ChangesPageDto } from '../audit/changes/feed-api.js';

export const REPEAT = 'Requests the action even if the same action is running or recent.';

/** The contract has one schema for each action type instead: see ApiActionRequest. */
export class ActionRequestDto {
  @Choice('KnownActionType', ACTION_TYPES)
  readonly action: ActionTypeName;

  @JsonObject({ optional: true })
  readonly parameters?: Record<string, unknown>;

  @Flag({ optional: true, description: REPEAT })
  readonly repeat?: boolean;
}

const When = (description?: string) => Instant({ optional: true, description });
const Who = (description?: string) => Text({ optional: true, description });
const OtherAction = (description: string) => ActionId({ optional: true, description });

class ActionIncidentDto {
  @Text()
  readonly incident_number: string;

  @Text()
  readonly incident_type: string;

  @Text()
  readonly title: string;

  @Choice('Severity', SEVERITIES)
  readonly severity: Severity;

  @Choice('IncidentStatus', INCIDENT_STATUSES)
  readonly status: IncidentStatus;
}

export class ActionSummaryDto {
  @ActionId()
  readonly id: string;

  @Id('IncidentId', { optional: true, description: 'Absent for direct execution.' })
  readonly incident_id?: string;

  @Nested(() => ActionIncidentDto, {
    optional: true,
    description: 'Absent for direct execution, and when the incident was deleted.',
  })
  readonly incident?: ActionIncidentDto;

  @OpenChoice('ActionTypeName', ACTION_TYPES)
  readonly action_type: string;

  @Choice('ActionStatus', ACTION_STATUSES)
  readonly status: ActionStatus;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description:
      'Level that has, or had, to approve the action. The level is judged when the action is requested, and again when it is approved.',
  })
  readonly approval_level?: RequiredLevel;

  @JsonObject()
  readonly parameters: Readonly<Record<string, unknown>>;

  @Text()
  readonly requested_by: string;

  @Instant()
  readonly requested_at: Date;

  @Instant({
    description: 'Latest of the times at which the action was requested, decided on or executed.',
  })
  readonly updated_at: Date;

  @Id('PlaybookRunId', { optional: true, description: 'Playbook run that requested the action.' })
  readonly playbook_run_id?: string;

  @Who(
    'Principal who started the playbook run. For an automatic run: the person or key that gave the verdict or requested the triage.',
  )
  readonly on_behalf_of?: string;

  @When('While the action waits for approval: last time at which it can be approved.')
  readonly expires_at?: Date;

  @Nested(() => ActionPreviewDto, {
    optional: true,
    description:
      'What the action would change outside, looked up once when it began to wait for approval. Present for `quarantine_email` and `delete_email` at Microsoft Graph, a moment after the request.',
  })
  readonly preview?: ActionPreviewDto;

  @Who(
    'Principal who approved the action or, without approval, requested it. `system` if no person did.',
  )
  readonly executed_by?: string;

  @When('When its execution ended.')
  readonly executed_at?: Date;

  @Who()
  readonly approved_by?: string;

  @When()
  readonly approved_at?: Date;

  @Text({ optional: true, description: 'Comment of the approver.' })
  readonly comment?: string;

  @Who('`system` if nobody decided in time.')
  readonly rejected_by?: string;

  @When()
  readonly rejected_at?: Date;

  @Text({ optional: true })
  readonly rejection_reason?: string;

  @Nested(() => ActionResultDto, {
    optional: true,
    description: 'Present after the action has ended.',
  })
  readonly result?: ActionResultDto;

  @OtherAction('For a rollback: the action that it rolls back.')
  readonly rollback_of?: string;

  @OtherAction('The rollback of this action.')
  readonly rolled_back_by?: string;
}

/** The contract has different names for an action in a list and a single action. Generated clients use both names. */
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

const SORTS = sortWords(
  'requested_at',
  'created_at',
  'updated_at',
  'executed_at',
  'status',
  'action_type',
);

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

  @When(
    'Requested strictly after this time. With the `requested_at` of an action, that action is left out.',
  )
  readonly created_after?: string;

  @When('Requested strictly before this time.')
  readonly created_before?: string;

  @When('Execution ended strictly after this time.')
  readonly executed_after?: string;

  @When('Requested, decided or executed strictly after this time.')
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
