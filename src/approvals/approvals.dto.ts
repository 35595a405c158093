import {
  ActionResultDto,
  type Action,
  ACTION_STATUSES,
  ActionId,
  type ActionStatus,
  shownActionId,
} from '../actions/action.js';
import { Choice, Flag, Instant, Nested, Reason, Text } from '../platform/validation/fields.js';
import type { WantedApproval } from './approvals.service.js';
import type { ModuleContract } from '../platform/openapi/module-contract.js';
const LONGEST_TEXT = 2_000;

export class ActionApprovalDto {
  @Text({ optional: true, max: LONGEST_TEXT })
  readonly comment?: string;

  @Flag({
    optional: true,
    default: false,
    description: 'Approves the action even if its incident is resolved.',
  })
  readonly confirm_resolved?: boolean;

  static toApproval(this: void, { comment, confirm_resolved }: ActionApprovalDto): WantedApproval {
    return { confirmResolved: confirm_resolved ?? false, comment };
  }
}

export class ActionRejectionDto {
  @Reason({ max: LONGEST_TEXT })
  readonly reason: string;
}

export class ApprovedActionDto {
  @ActionId()
  readonly id: string;

  @Choice('ActionStatus', ACTION_STATUSES)
  readonly status: ActionStatus;

  @Text()
  readonly approved_by: string;

  @Instant()
  readonly approved_at: string;

  @Nested(() => ActionResultDto, {
    optional: true,
    description: 'Present after the action has ended.',
  })
  readonly result?: ActionResultDto;

  static from(this: void, action: Action): ApprovedActionDto {
    const { id, status, approved_by, approved_at, result } = action;
    return {
      id: shownActionId(id),
      status,
      approved_by: approved_by ?? '',
      approved_at: approved_at?.toISOString() ?? '',
      result: result && result,
    };
  }
}

export class RejectedActionDto {
  @ActionId()
  readonly id: string;

  @Choice('ActionStatus', ACTION_STATUSES)
  readonly status: ActionStatus;

  @Text()
  readonly rejected_by: string;

  @Instant()
  readonly rejected_at: string;

  @Text()
  readonly rejection_reason: string;

  static from(this: void, action: Action): RejectedActionDto {
    const { id, status, rejected_by, rejected_at, rejection_reason } = action;
    return {
      id: shownActionId(id),
      status,
      rejected_by: rejected_by ?? '',
      rejected_at: rejected_at?.toISOString() ?? '',
      rejection_reason: rejection_reason ?? '',
    };
  }
}

/** Descriptions of this module in the OpenAPI document. */
export const APPROVALS_CONTRACT: ModuleContract = {
  tags: { Approvals: 'Decisions of people on actions that need approval.' },
  schemas: {
    ActionApproval: 'Options of an approval.',
    ActionRejection: 'Reason of a rejection.',
    ApprovedAction: 'An approved action, with its result if it has ended.',
    RejectedAction: 'A rejected action.',
  },
  fields: {
    approved_at: 'Time of the approval.',
    approved_by: 'Principal who approved it.',
    rejected_at: 'Time of the rejection.',
    rejected_by: 'Principal who rejected it; `system` if nobody decided in time.',
    rejection_reason: 'Reason of the rejection.',
  },
};
