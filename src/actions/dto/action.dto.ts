import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import {
  INCIDENT_STATUSES,
  type IncidentStatus,
  SEVERITIES,
  type Severity,
} from '../../incidents/incident.js';
import {
  type Action,
  ACTION_STATUSES,
  ActionId,
  type ActionIncident,
  type ActionPreview,
  type ActionStatus,
  lastChangeOf,
  REQUIRED_LEVELS,
  type RequiredLevel,
  shownActionId,
} from '../action.js';
import {
  Choice,
  Flag,
  Id,
  Instant,
  JsonObject,
  Nested,
  NestedList,
  OpenChoice,
  Text,
  WholeNumber,
} from '../../platform/validation/fields.js';
import { ActionResultDto } from './action-result.js';
import { PARAMETERS_EXAMPLE } from './action-requests.dto.js';
import type { FeedEntry, FeedPage } from '../../audit/changes/change-feed.js';
import { ACTION_FEED_EVENTS } from '../actions.service.js';

const TIME = '2026-01-31T09:30:00.000Z';

const When = (description?: string) => Instant({ optional: true, description, example: TIME });
const Who = (description?: string) => Text({ optional: true, description, example: 'alice' });
const OtherAction = (description: string) =>
  ActionId({ optional: true, description, example: undefined });

class ActionPreviewDto {
  @WholeNumber({
    min: 0,
    optional: true,
    description:
      'Number of mails that the action would change. Absent if the connector could not find out.',
    example: 2,
  })
  readonly count?: number;

  @Text({
    description: 'What the action would change, or why this is not known.',
    example: 'Moves 2 mails to quarantine in alice@corp.example.',
  })
  readonly message: string;

  static from(this: void, { count, message }: ActionPreview): ActionPreviewDto {
    return { count, message };
  }
}

class ActionIncidentDto {
  @Text({ example: 'INC-2026-0042' })
  readonly incident_number: string;

  @Text({ example: 'phishing' })
  readonly incident_type: string;

  @Text({ example: 'Phishing: "Urgent wire transfer" from ceo@examp1e.com to finance@example.com' })
  readonly title: string;

  @Choice('Severity', SEVERITIES, { example: 'high' })
  readonly severity: Severity;

  @Choice('IncidentStatus', INCIDENT_STATUSES, { example: 'open' })
  readonly status: IncidentStatus;

  static from(this: void, incident: ActionIncident): ActionIncidentDto {
    const { incident_number, incident_type, title, severity, status } = incident;
    return {
      incident_number,
      incident_type,
      title,
      severity,
      status,
    };
  }
}

/** An action with all its fields. Lists show all of them, too. */
export class ActionSummaryDto {
  @ActionId()
  readonly id: string;

  @Id('IncidentId', {
    optional: true,
    description: 'Absent for direct execution.',
    example: undefined,
  })
  readonly incident_id?: string;

  @Nested(() => ActionIncidentDto, {
    optional: true,
    description: 'Absent for direct execution, and when the incident was deleted.',
  })
  readonly incident?: ActionIncidentDto;

  @OpenChoice('ActionTypeName', ACTION_TYPES, { example: 'quarantine_email' })
  readonly action_type: string;

  @Choice('ActionStatus', ACTION_STATUSES, { example: 'completed' })
  readonly status: ActionStatus;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description:
      'Level that has, or had, to approve the action. The level is judged when the action is requested, and again when it is approved.',
  })
  readonly approval_level?: RequiredLevel;

  @JsonObject({ example: PARAMETERS_EXAMPLE })
  readonly parameters: Readonly<Record<string, unknown>>;

  @Text({ example: 'alice' })
  readonly requested_by: string;

  @Instant({ example: TIME })
  readonly requested_at: string;

  @Instant({
    description: 'Latest of the times at which the action was requested, decided on or executed.',
    example: TIME,
  })
  readonly updated_at: string;

  @Id('PlaybookRunId', {
    optional: true,
    description: 'Playbook run that requested the action.',
    example: undefined,
  })
  readonly playbook_run_id?: string;

  @Who(
    'Principal who started the playbook run. For an automatic run: the person or key that gave the verdict or requested the triage.',
  )
  readonly on_behalf_of?: string;

  @When('While the action waits for approval: last time at which it can be approved.')
  readonly expires_at?: string;

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
  readonly executed_at?: string;

  @Who()
  readonly approved_by?: string;

  @When()
  readonly approved_at?: string;

  @Text({ optional: true, description: 'Comment of the approver.' })
  readonly comment?: string;

  @Who('`system` if nobody decided in time.')
  readonly rejected_by?: string;

  @When()
  readonly rejected_at?: string;

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

  static from(this: void, action: Action): ActionSummaryDto {
    const { incident, preview, result, rollback_of, rolled_back_by } = action;
    return {
      id: shownActionId(action.id),
      incident_id: action.incident_id,
      incident: incident && ActionIncidentDto.from(incident),
      action_type: action.action_type,
      status: action.status,
      approval_level: action.approval_level,
      parameters: action.parameters,
      requested_by: action.requested_by,
      requested_at: action.requested_at.toISOString(),
      updated_at: lastChangeOf(action).toISOString(),
      playbook_run_id: action.playbook_run_id,
      on_behalf_of: action.on_behalf_of,
      expires_at: action.expires_at?.toISOString(),
      preview: preview && ActionPreviewDto.from(preview),
      executed_by: action.executed_by,
      executed_at: action.executed_at?.toISOString(),
      approved_by: action.approved_by,
      approved_at: action.approved_at?.toISOString(),
      comment: action.comment,
      rejected_by: action.rejected_by,
      rejected_at: action.rejected_at?.toISOString(),
      rejection_reason: action.rejection_reason,
      result: result && ActionResultDto.from(result),
      rollback_of: rollback_of && shownActionId(rollback_of),
      rolled_back_by: rolled_back_by && shownActionId(rolled_back_by),
    };
  }
}

/** The contract has one name for an action in a list and one for a single action, and generated clients use both. */
export class ActionDto extends ActionSummaryDto {}

const LISTED = 'action.listed';

class ActionChangeDto {
  @OpenChoice('ActionChangeEvent', [LISTED, ...ACTION_FEED_EVENTS], {
    description: 'What happened. `action.listed`: nothing, the action existed when the feed began.',
    example: 'action.completed',
  })
  readonly event: string;

  @Id('ActionChangeId', {
    optional: true,
    description:
      'Id of the change, also of its entry in the audit trail. Absent for `action.listed`.',
  })
  readonly change_id?: string;

  @ActionId()
  readonly action_id: string;

  @Instant({
    description:
      'Time of the change; for `action.listed`, of the last change. Changes are in the order in which they became visible, which is not exactly the order of their times.',
    example: '2026-01-31T09:30:00.000Z',
  })
  readonly at: string;

  @Text({
    optional: true,
    description: 'Principal that made the change. Absent for `action.listed`.',
    example: 'alice',
  })
  readonly by?: string;

  @Nested(() => ActionSummaryDto, {
    optional: true,
    description: 'The action as it is now, which may be later than the change.',
  })
  readonly action?: ActionSummaryDto;

  static from(this: void, { change, item }: FeedEntry<Action>): ActionChangeDto {
    const action = item && ActionSummaryDto.from(item);
    if (!change) {
      const { id, updated_at } = action!;
      return { event: LISTED, action_id: id, at: updated_at, action };
    }
    return {
      event: change.action,
      change_id: change.id,
      action_id: change.subjectId,
      at: change.at.toISOString(),
      by: change.actor,
      action,
    };
  }
}

export class ActionChangesDto {
  @NestedList(() => ActionChangeDto, { description: 'At most `limit`; may be empty.' })
  readonly changes: readonly ActionChangeDto[];

  @Text({
    description: 'Position after these changes, for the next request. Present in each answer.',
    example: undefined,
  })
  readonly cursor: string;

  @Flag({ description: 'There may be more changes now: ask again without a wait.', example: false })
  readonly has_more: boolean;

  static from(this: void, page: FeedPage<Action>): ActionChangesDto {
    const { entries, cursor, hasMore } = page;
    return { changes: entries.map(ActionChangeDto.from), cursor, has_more: hasMore };
  }
}
