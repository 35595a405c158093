import { type Action, ACTION_STATUSES, type ActionStatus } from '../actions/action.js';
import { ActionId, shownActionId } from '../actions/action-id.js';
import { ActionResultDto } from '../actions/dto/action-result.js';
import { Choice, Flag, Instant, Nested, Reason, Text } from '../platform/validation/fields.js';
import type { WantedApproval } from './approvals.service.js';

const LONGEST_TEXT = 2_000;
const DECIDED_AT = '2026-01-31T09:31:00.000Z';

export class ActionApprovalDto {
  @Text({ optional: true, max: LONGEST_TEXT, example: 'Confirmed with the owner of the host.' })
  readonly comment?: string;

  @Flag({
    optional: true,
    default: false,
    description: 'Approve it although its incident is resolved.',
  })
  readonly confirm_resolved?: boolean;

  static toApproval(this: void, { comment, confirm_resolved }: ActionApprovalDto): WantedApproval {
    return { confirmResolved: confirm_resolved ?? false, comment };
  }
}

export class ActionRejectionDto {
  @Reason({ max: LONGEST_TEXT, example: 'The host is a domain controller.' })
  readonly reason: string;
}

export class ApprovedActionDto {
  @ActionId()
  readonly id: string;

  @Choice('ActionStatus', ACTION_STATUSES, { example: 'completed' })
  readonly status: ActionStatus;

  @Text({ example: 'bob' })
  readonly approved_by: string;

  @Instant({ example: DECIDED_AT })
  readonly approved_at: string;

  @Nested(() => ActionResultDto, { optional: true, description: 'Once it has ended.' })
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
  @ActionId()
  readonly id: string;

  @Choice('ActionStatus', ACTION_STATUSES, { example: 'rejected' })
  readonly status: ActionStatus;

  @Text({ example: 'bob' })
  readonly rejected_by: string;

  @Instant({ example: DECIDED_AT })
  readonly rejected_at: string;

  @Text({ example: 'The host is a domain controller.' })
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
