import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import {
  INCIDENT_STATUSES,
  type IncidentStatus,
  SEVERITIES,
  type Severity,
} from '../../incidents/incident.js';
import {
  type Action,
  type ActionIncident,
  ACTION_STATUSES,
  type ActionStatus,
  REQUIRED_LEVELS,
  type RequiredLevel,
} from '../action.js';
import { ActionId, shownActionId } from '../action-id.js';
import {
  Choice,
  Id,
  Instant,
  JsonObject,
  Nested,
  OpenChoice,
  Text,
} from '../../platform/validation/fields.js';
import { ActionResultDto } from './action-result.js';
import { PARAMETERS_EXAMPLE } from './execute-action.dto.js';

const TIME = '2026-01-31T09:30:00.000Z';

const When = (description?: string) => Instant({ optional: true, description, example: TIME });
const Who = (description?: string) => Text({ optional: true, description, example: 'alice' });
const OtherAction = (description: string) =>
  ActionId({ optional: true, description, example: undefined });

export class ActionIncidentDto {
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
    const { incidentNumber, incidentType, title, severity, status } = incident;
    return {
      incident_number: incidentNumber,
      incident_type: incidentType,
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
      'When it has, or had, to be approved. While it waits: as judged when it was requested; an approval is judged again.',
  })
  readonly approval_level?: RequiredLevel;

  @JsonObject({ example: PARAMETERS_EXAMPLE })
  readonly parameters: Readonly<Record<string, unknown>>;

  @Text({ example: 'alice' })
  readonly requested_by: string;

  @Instant({ example: TIME })
  readonly requested_at: string;

  @Id('PlaybookRunId', {
    optional: true,
    description: 'The playbook run that it is a step of.',
    example: undefined,
  })
  readonly playbook_run_id?: string;

  @Who(
    'Who started that run; where it started by itself, whoever gave the verdict or asked for the triage, if that was a person or a key.',
  )
  readonly on_behalf_of?: string;

  @When('While it waits for approval: it can be approved before this time.')
  readonly expires_at?: string;

  @Who('Who approved it or else asked for it; `system` when no person did.')
  readonly executed_by?: string;

  @When('When its execution ended.')
  readonly executed_at?: string;

  @Who()
  readonly approved_by?: string;

  @When()
  readonly approved_at?: string;

  @Text({ optional: true, description: 'What the approver said.' })
  readonly comment?: string;

  @Who('`system` when it waited too long.')
  readonly rejected_by?: string;

  @When()
  readonly rejected_at?: string;

  @Text({ optional: true })
  readonly rejection_reason?: string;

  @Nested(() => ActionResultDto, { optional: true, description: 'Once it has ended.' })
  readonly result?: ActionResultDto;

  @OtherAction('Of a rollback: the action that it undoes.')
  readonly rollback_of?: string;

  @OtherAction('The action that undid, or undoes, this one.')
  readonly rolled_back_by?: string;

  static from(this: void, action: Action): ActionSummaryDto {
    const { incident, result, rollbackOf, rolledBackBy } = action;
    return {
      id: shownActionId(action.id),
      incident_id: action.incidentId,
      incident: incident && ActionIncidentDto.from(incident),
      action_type: action.type,
      status: action.status,
      approval_level: action.approvalLevel,
      parameters: action.parameters,
      requested_by: action.requestedBy,
      requested_at: action.requestedAt.toISOString(),
      playbook_run_id: action.playbookRunId,
      on_behalf_of: action.onBehalfOf,
      expires_at: action.expiresAt?.toISOString(),
      executed_by: action.executedBy,
      executed_at: action.executedAt?.toISOString(),
      approved_by: action.approvedBy,
      approved_at: action.approvedAt?.toISOString(),
      comment: action.comment,
      rejected_by: action.rejectedBy,
      rejected_at: action.rejectedAt?.toISOString(),
      rejection_reason: action.rejectionReason,
      result: result && ActionResultDto.from(result),
      rollback_of: rollbackOf && shownActionId(rollbackOf),
      rolled_back_by: rolledBackBy && shownActionId(rolledBackBy),
    };
  }
}

/** The contract has one name for an action in a list and one for a single action, and generated clients use both. */
export class ActionDto extends ActionSummaryDto {}
