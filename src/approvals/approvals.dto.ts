import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsString, Matches, MaxLength } from 'class-validator';
import { type Action, ACTION_STATUSES, type ActionStatus } from '../actions/action.js';
import { ACTION_ID_EXAMPLE, ACTION_ID_PATTERN, shownActionId } from '../actions/action-id.js';
import { ActionResultDto } from '../actions/dto/action-result.js';
import { Optional } from '../platform/validation/decorators.js';
import type { WantedApproval } from './approvals.service.js';

const LONGEST_TEXT = 2_000;
const ID = { type: 'string', pattern: ACTION_ID_PATTERN, example: ACTION_ID_EXAMPLE } as const;
const TIME = { type: 'string', format: 'date-time', example: '2026-01-31T09:31:00.000Z' } as const;

export class ApproveActionDto {
  @ApiProperty({
    type: 'string',
    maxLength: LONGEST_TEXT,
    required: false,
    example: 'Confirmed with the owner of the host.',
  })
  @Optional()
  @IsString()
  @MaxLength(LONGEST_TEXT)
  readonly comment?: string;

  @ApiProperty({
    type: 'boolean',
    default: false,
    required: false,
    description: 'Approve it although its incident is resolved.',
  })
  @Optional()
  @IsBoolean()
  readonly confirm_resolved?: boolean;

  static toApproval(this: void, { comment, confirm_resolved }: ApproveActionDto): WantedApproval {
    return {
      confirmResolved: confirm_resolved ?? false,
      comment,
    };
  }
}

export class RejectActionDto {
  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: LONGEST_TEXT,
    pattern: String.raw`\S`,
    example: 'The host is a domain controller.',
  })
  @IsString()
  @MaxLength(LONGEST_TEXT)
  @Matches(/\S/, { message: 'reason must say something' })
  readonly reason: string;
}

export class ApprovedActionDto {
  @ApiProperty(ID)
  readonly id: string;

  @ApiProperty({ enum: ACTION_STATUSES, enumName: 'ActionStatus', example: 'completed' })
  readonly status: ActionStatus;

  @ApiProperty({ type: 'string', example: 'bob' })
  readonly approved_by: string;

  @ApiProperty(TIME)
  readonly approved_at: string;

  @ApiProperty({ type: ActionResultDto, required: false, description: 'Once it has ended.' })
  readonly result?: ActionResultDto;

  static from(this: void, action: Action): ApprovedActionDto {
    const { id, status, approvedBy, approvedAt, result } = action;
    return {
      id: shownActionId(id),
      status,
      approved_by: approvedBy ?? '',
      approved_at: approvedAt?.toISOString() ?? '',
      result: result && ActionResultDto.from(result),
    };
  }
}

export class RejectedActionDto {
  @ApiProperty(ID)
  readonly id: string;

  @ApiProperty({ enum: ACTION_STATUSES, enumName: 'ActionStatus', example: 'rejected' })
  readonly status: ActionStatus;

  @ApiProperty({ type: 'string', example: 'bob' })
  readonly rejected_by: string;

  @ApiProperty(TIME)
  readonly rejected_at: string;

  @ApiProperty({ type: 'string', example: 'The host is a domain controller.' })
  readonly rejection_reason: string;

  static from(this: void, action: Action): RejectedActionDto {
    const { id, status, rejectedBy, rejectedAt, rejectionReason } = action;
    return {
      id: shownActionId(id),
      status,
      rejected_by: rejectedBy ?? '',
      rejected_at: rejectedAt?.toISOString() ?? '',
      rejection_reason: rejectionReason ?? '',
    };
  }
}
