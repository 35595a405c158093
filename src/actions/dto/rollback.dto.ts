import {
  type Action,
  ACTION_STATUSES,
  type ActionStatus,
  REQUIRED_LEVELS,
  type RequiredLevel,
} from '../action.js';
import { ActionId, shownActionId } from '../action-id.js';
import { Choice, Instant, Nested, Reason } from '../../platform/validation/fields.js';
import { ActionResultDto } from './action-result.js';

export class ActionRollbackDto {
  @Reason({ max: 2_000, example: 'It was a false alarm.' })
  readonly reason: string;
}

export class RolledBackActionDto {
  @ActionId({
    description: 'The new action, of the inverse type.',
    example: 'act-0193f2b6-8d2f-7b1c-8f5f-3a1b8c7d6e5f',
  })
  readonly rollback_action_id: string;

  @ActionId()
  readonly original_action_id: string;

  @Choice('ActionStatus', ACTION_STATUSES, {
    description: 'Of the new action.',
    example: 'completed',
  })
  readonly status: ActionStatus;

  @Nested(() => ActionResultDto, { optional: true, description: 'Once it has ended.' })
  readonly result?: ActionResultDto;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description: 'When it has to be approved by somebody else.',
  })
  readonly approval_level?: RequiredLevel;

  @Instant({
    optional: true,
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
      expires_at: expiresAt?.toISOString(),
    };
  }
}
