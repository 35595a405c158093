import { ApiProperty } from '@nestjs/swagger';
import { ACTION_TYPES, type ActionTypeName } from '../catalogue/action-types.js';
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
import { ACTION_ID_EXAMPLE, ACTION_ID_PATTERN, shownActionId } from '../action-id.js';
import { ActionResultDto } from './action-result.js';
import { PARAMETERS_EXAMPLE } from './execute-action.dto.js';

const TIME = '2026-01-31T09:30:00.000Z';
const OPTIONAL_TIME = {
  type: 'string',
  format: 'date-time',
  required: false,
  example: TIME,
} as const;
const OPTIONAL_NAME = { type: 'string', required: false, example: 'alice' } as const;
const OPTIONAL_ID = {
  type: 'string',
  pattern: ACTION_ID_PATTERN,
  required: false,
} as const;

export class ActionIncidentDto {
  @ApiProperty({ type: 'string', example: 'INC-2026-0042' })
  readonly incident_number: string;

  @ApiProperty({ type: 'string', example: 'phishing' })
  readonly incident_type: string;

  @ApiProperty({ enum: SEVERITIES, enumName: 'Severity', example: 'high' })
  readonly severity: Severity;

  @ApiProperty({ enum: INCIDENT_STATUSES, enumName: 'IncidentStatus', example: 'open' })
  readonly status: IncidentStatus;

  static from(this: void, incident: ActionIncident): ActionIncidentDto {
    const { incidentNumber, incidentType, severity, status } = incident;
    return { incident_number: incidentNumber, incident_type: incidentType, severity, status };
  }
}

/** All there is to an action: lists show it, too. */
export class ActionSummaryDto {
  @ApiProperty({ type: 'string', pattern: ACTION_ID_PATTERN, example: ACTION_ID_EXAMPLE })
  readonly id: string;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    required: false,
    description: 'Absent for direct execution.',
  })
  readonly incident_id?: string;

  @ApiProperty({
    type: ActionIncidentDto,
    required: false,
    description: 'Absent for direct execution, and when the incident was deleted.',
  })
  readonly incident?: ActionIncidentDto;

  @ApiProperty({ enum: ACTION_TYPES, enumName: 'ActionName', example: 'quarantine_email' })
  readonly action_type: ActionTypeName;

  @ApiProperty({ enum: ACTION_STATUSES, enumName: 'ActionStatus', example: 'completed' })
  readonly status: ActionStatus;

  @ApiProperty({
    enum: REQUIRED_LEVELS,
    enumName: 'RequiredLevel',
    required: false,
    description:
      'When it has, or had, to be approved. While it waits: as judged when it was requested; an approval is judged again.',
  })
  readonly approval_level?: RequiredLevel;

  @ApiProperty({ type: 'object', additionalProperties: true, example: PARAMETERS_EXAMPLE })
  readonly parameters: Readonly<Record<string, unknown>>;

  @ApiProperty({ type: 'string', example: 'alice' })
  readonly requested_by: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: TIME })
  readonly requested_at: string;

  @ApiProperty({
    ...OPTIONAL_TIME,
    description: 'While it waits for approval: it can be approved before this time.',
  })
  readonly expires_at?: string;

  @ApiProperty({
    ...OPTIONAL_NAME,
    description: 'Who approved it or else asked for it; `system` when no person did.',
  })
  readonly executed_by?: string;

  @ApiProperty({ ...OPTIONAL_TIME, description: 'When its execution ended.' })
  readonly executed_at?: string;

  @ApiProperty(OPTIONAL_NAME)
  readonly approved_by?: string;

  @ApiProperty(OPTIONAL_TIME)
  readonly approved_at?: string;

  @ApiProperty({ type: 'string', required: false, description: 'What the approver said.' })
  readonly comment?: string;

  @ApiProperty({ ...OPTIONAL_NAME, description: '`system` when it waited too long.' })
  readonly rejected_by?: string;

  @ApiProperty(OPTIONAL_TIME)
  readonly rejected_at?: string;

  @ApiProperty({ type: 'string', required: false })
  readonly rejection_reason?: string;

  @ApiProperty({ type: ActionResultDto, required: false, description: 'Once it has ended.' })
  readonly result?: ActionResultDto;

  @ApiProperty({ ...OPTIONAL_ID, description: 'Of a rollback: the action that it undoes.' })
  readonly rollback_of?: string;

  @ApiProperty({ ...OPTIONAL_ID, description: 'The action that undid, or undoes, this one.' })
  readonly rolled_back_by?: string;

  static from(this: void, action: Action): ActionSummaryDto {
    const { incidentId, incident, approvalLevel, result, rollbackOf, rolledBackBy } = action;
    return {
      id: shownActionId(action.id),
      ...(incidentId && { incident_id: incidentId }),
      incident: incident && ActionIncidentDto.from(incident),
      action_type: action.type,
      status: action.status,
      approval_level: approvalLevel,
      parameters: action.parameters,
      requested_by: action.requestedBy,
      requested_at: action.requestedAt.toISOString(),
      expires_at: action.expiresAt && action.expiresAt.toISOString(),
      ...who('executed', action.executedBy, action.executedAt),
      ...who('approved', action.approvedBy, action.approvedAt),
      comment: action.comment,
      ...who('rejected', action.rejectedBy, action.rejectedAt),
      rejection_reason: action.rejectionReason,
      result: result && ActionResultDto.from(result),
      ...(rollbackOf && { rollback_of: shownActionId(rollbackOf) }),
      ...(rolledBackBy && { rolled_back_by: shownActionId(rolledBackBy) }),
    };
  }
}

/** Clients know an action of a list and a single one by two names. */
export class ActionDto extends ActionSummaryDto {}

function who(
  what: 'executed' | 'approved' | 'rejected',
  by: string | undefined,
  at: Date | undefined,
): object {
  return {
    [`${what}_by`]: by,
    [`${what}_at`]: at && at.toISOString(),
  };
}
