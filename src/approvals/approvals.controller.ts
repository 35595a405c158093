import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { actionIdOf } from '../actions/action-id.js';
import { AwaitedRuns } from '../actions/execution/awaited-runs.js';
import { CurrentPrincipal } from '../auth/current-principal.js';
import type { Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { ApiAnswer, ApiErrorMeanings, ApiErrors, Operation } from '../platform/openapi/answers.js';
import { Idempotent } from '../platform/idempotency/idempotent.js';
import type { Idempotency } from '../platform/idempotency/idempotency.js';
import { RequiresItsLevel } from './approval-level.guard.js';
import {
  ActionApprovalDto,
  ApprovedActionDto,
  ActionRejectionDto,
  RejectedActionDto,
} from './approvals.dto.js';
import { ApprovalsService } from './approvals.service.js';

/** 202 while the vendor takes longer than a request does. */
const statusOfApproval = ({ status }: { readonly status: string }): number =>
  status === 'pending' ? 202 : 200;

@ApiTags('Approvals')
@Controller('api/actions/:id')
@Requires('viewer')
export class ApprovalsController {
  constructor(
    private readonly approvals: ApprovalsService,
    private readonly runs: AwaitedRuns,
  ) {}

  @Post('approve')
  @HttpCode(200)
  @RequiresItsLevel(ActionApprovalDto, 'approve')
  @Operation(
    'approveAction',
    'Approve an action, which runs it',
    "For who reaches the action's approval level, which is judged again: the level that it would need now counts where that is\n" +
      'higher. The action runs with exactly the parameters that it shows. What waited too long, and without\n' +
      '`confirm_resolved` what belongs to a resolved incident (`details.reason: incident_resolved`), is `invalid_state`.',
  )
  @ApiBody({ type: ActionApprovalDto, required: false })
  @ApiAnswer({
    status: 200,
    description: 'It is approved and has ended: completed, or failed.',
    type: ApprovedActionDto,
  })
  @ApiAnswer({
    status: 202,
    description: 'It is approved and takes longer than a request does.',
    type: ApprovedActionDto,
  })
  @ApiErrors('insufficient_approval_level', 'invalid_state', 'kill_switch_active')
  @ApiErrorMeanings({
    forbidden:
      'The caller asked for the action itself where four eyes are wanted, or the request comes from another site or does not say where it comes from.',
    insufficient_approval_level: 'The level of the caller is below what the action needs now.',
    kill_switch_active: 'The kill switch is on: the action goes on waiting.',
    invalid_state:
      'The action does not wait for approval, or not any more; or its incident is resolved and `confirm_resolved` is not set: `details.reason` is `incident_resolved`.',
  })
  async approve(
    @Param('id') id: string,
    @Body() body: ActionApprovalDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovedActionDto> {
    const remember = idempotency.remember(ApprovedActionDto.from, {
      status: statusOfApproval,
      provisionalForMs: this.runs.answeredWithinMs,
    });
    const wanted = ActionApprovalDto.toApproval(body);
    const action = await this.approvals.approve(caller, actionIdOf(id), wanted, remember);
    void reply.status(statusOfApproval(action));
    return ApprovedActionDto.from(action);
  }

  @Post('reject')
  @HttpCode(200)
  @RequiresItsLevel(ActionRejectionDto, 'reject')
  @Operation('rejectAction', 'Reject an action', "For who reaches the action's approval level.")
  @ApiAnswer({ status: 200, description: 'It will not run.', type: RejectedActionDto })
  @ApiErrors('insufficient_approval_level', 'invalid_state')
  @ApiErrorMeanings({
    insufficient_approval_level: 'The level of the caller is below what the action needs.',
    invalid_state: 'The action does not wait for approval, or not any more.',
  })
  async reject(
    @Param('id') id: string,
    @Body() { reason }: ActionRejectionDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<RejectedActionDto> {
    const remember = idempotency.remember(RejectedActionDto.from);
    return RejectedActionDto.from(
      await this.approvals.reject(caller, actionIdOf(id), reason, remember),
    );
  }
}
