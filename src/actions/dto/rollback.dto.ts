import { ApiProperty } from '@nestjs/swagger';
import { IsString, Matches, MaxLength } from 'class-validator';
import {
  type Action,
  ACTION_STATUSES,
  type ActionStatus,
  REQUIRED_LEVELS,
  type RequiredLevel,
} from '../action.js';
import { ACTION_ID_EXAMPLE, ACTION_ID_PATTERN, shownActionId } from '../action-id.js';
import { ActionResultDto } from './action-result.js';

const LONGEST_REASON = 2_000;

export class RollBackActionDto {
  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: LONGEST_REASON,
    pattern: String.raw`\S`,
    example: 'It was a false alarm.',
  })
  @IsString()
  @MaxLength(LONGEST_REASON)
  @Matches(/\S/, { message: 'reason must say something' })
  readonly reason: string;
}

export class RolledBackActionDto {
  @ApiProperty({
    type: 'string',
    pattern: ACTION_ID_PATTERN,
    description: 'The new action, of the inverse type.',
    example: 'act-0193f2b6-8d2f-7b1c-8f5f-3a1b8c7d6e5f',
  })
  readonly rollback_action_id: string;

  @ApiProperty({ type: 'string', pattern: ACTION_ID_PATTERN, example: ACTION_ID_EXAMPLE })
  readonly original_action_id: string;

  @ApiProperty({
    enum: ACTION_STATUSES,
    enumName: 'ActionStatus',
    description: 'Of the new action.',
    example: 'completed',
  })
  readonly status: ActionStatus;

  @ApiProperty({ type: ActionResultDto, required: false, description: 'Once it has ended.' })
  readonly result?: ActionResultDto;

  @ApiProperty({
    enum: REQUIRED_LEVELS,
    enumName: 'RequiredLevel',
    required: false,
    description: 'When it has to be approved by somebody else.',
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

  static from(this: void, action: Action): RolledBackActionDto {
    const { id, rollbackOf, status, result, approvalLevel, expiresAt } = action;
    return {
      rollback_action_id: shownActionId(id),
      original_action_id: shownActionId(rollbackOf ?? ''),
      status,
      result: result && ActionResultDto.from(result),
      approval_level: approvalLevel,
      expires_at: expiresAt && expiresAt.toISOString(),
    };
  }
}
