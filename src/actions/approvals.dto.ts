import { PickType } from '@nestjs/swagger';
import { Flag, Instant, Reason, Text } from '../platform/validation/fields.js';
import { ActionSummaryDto } from './actions.dto.js';

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
