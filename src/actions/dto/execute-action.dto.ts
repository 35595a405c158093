import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { ACTION_TYPES, type ActionTypeName, actionTypes } from '../catalogue/action-types.js';
import { IsJsonObject, Optional } from '../../platform/validation/decorators.js';
import {
  type Action,
  type ActionStatus,
  type RequiredLevel,
  ACTION_STATUSES,
  REQUIRED_LEVELS,
} from '../action.js';
import { ACTION_ID_EXAMPLE, ACTION_ID_PATTERN, shownActionId } from '../action-id.js';
import type { WantedAction } from '../requests/action-requests.js';
import { ActionResultDto } from './action-result.js';

export const PARAMETERS_EXAMPLE = { message_id: '<4f2a1c@mail.example.net>', reason: 'Phishing.' };

const PARAMETERS_DESCRIPTION = [
  'What the type takes; `*` is required:',
  ...actionTypes().map(({ name, parameters }) => {
    const names = parameters.map(({ name: parameter, type, required, values, format }) => {
      const kind = values?.join(' or ') ?? format ?? (type === 'string' ? '' : type);
      return `${parameter}${required ? '*' : ''}${kind && ` (${kind})`}`;
    });
    return `- \`${name}\`: ${names.join(', ')}`;
  }),
].join('\n');

export class ExecuteActionDto {
  @ApiProperty({ enum: ACTION_TYPES, enumName: 'ActionName', example: 'quarantine_email' })
  @IsIn(ACTION_TYPES)
  readonly action: ActionTypeName;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    selfRequired: false,
    description: PARAMETERS_DESCRIPTION,
    example: PARAMETERS_EXAMPLE,
  })
  @Optional()
  @IsJsonObject()
  readonly parameters?: Record<string, unknown>;

  static toWanted(this: void, { action, parameters = {} }: ExecuteActionDto): WantedAction {
    return { type: action, parameters };
  }
}

export class ExecutedActionDto {
  @ApiProperty({ type: 'string', pattern: ACTION_ID_PATTERN, example: ACTION_ID_EXAMPLE })
  readonly action_id: string;

  @ApiProperty({ enum: ACTION_STATUSES, enumName: 'ActionStatus', example: 'completed' })
  readonly status: ActionStatus;

  @ApiProperty({ type: ActionResultDto, required: false, description: 'Once it has ended.' })
  readonly result?: ActionResultDto;

  @ApiProperty({
    enum: REQUIRED_LEVELS,
    enumName: 'RequiredLevel',
    required: false,
    description: 'When it has to be approved.',
    example: 'senior',
  })
  readonly approval_level?: RequiredLevel;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    description: 'While it waits for approval: it can be approved before this time.',
    example: '2026-02-01T09:30:00.000Z',
  })
  readonly expires_at?: string;

  @ApiProperty({
    type: 'string',
    required: false,
    description: 'While it waits for approval: who may give it.',
    example: 'isolate_host needs approval at level senior or higher.',
  })
  readonly message?: string;

  static from(this: void, action: Action): ExecutedActionDto {
    const { id, type, status, result, approvalLevel, expiresAt } = action;
    return {
      action_id: shownActionId(id),
      status,
      result: result && ActionResultDto.from(result),
      approval_level: approvalLevel,
      expires_at: expiresAt && expiresAt.toISOString(),
      ...(status === 'pending_approval' && {
        message: `${type} needs approval at level ${approvalLevel}${approvalLevel === 'manager' ? '' : ' or higher'}.`,
      }),
    };
  }
}

/** 202 while the work is not finished; failing is an outcome like any other. */
export function statusOfExecution({ status }: Pick<Action, 'status'>): number {
  return status === 'pending' || status === 'pending_approval' ? 202 : 200;
}
