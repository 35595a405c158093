import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../../auth/principal.js';
import { Requires } from '../../platform/access/access.js';
import { Idempotent, type Idempotency } from '../../platform/idempotency/idempotency.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
} from '../../platform/openapi/answers.js';
import { present, type RowOf } from '../../platform/validation/present.js';
import { type Action, actionIdOf, withShownIds } from '../action.js';
import { answer, ApiOutcome } from '../actions.controller.js';
import {
  ActionApprovalDto,
  ActionRejectionDto,
  ActionRollbackDto,
  ApprovedActionDto,
  RejectedActionDto,
  RolledBackActionDto,
  presentRollback,
} from '../actions.dto.js';
import { ActionWork } from '../execution/action-work.js';
import { ApprovalsService } from './approvals.service.js';

const presentDecided = <Dto extends object>(type: new () => Dto) => {
  const fields = present(type);
  return (action: Action): Dto => fields(withShownIds(action) as RowOf<Dto>);
};
const presentApproved = presentDecided(ApprovedActionDto);
const presentRejected = presentDecided(RejectedActionDto);

@ApiTags('Approvals')
@Controller('api/actions/:id')
@Requires('viewer')
export class ApprovalsController {
  constructor(
    private readonly approvals: ApprovalsService,
    private readonly work: ActionWork,
  ) {}

  @Post('approve')
  @HttpCode(200)
  @Operation(
    'approveAction',
    'Approve and run an action',
    'The caller needs the approval level of the action. The level is judged again: if the action would need a higher level now, that level counts. The action runs with exactly the parameters that it shows. An action that waited too long cannot be approved (`invalid_state`). An action of a resolved incident needs `confirm_resolved` (`details.reason` is `incident_resolved`).',
  )
  @ApiBody({ type: ActionApprovalDto, required: false })
  @ApiOutcome(
    ApprovedActionDto,
    'The action is approved and has ended: completed or failed.',
    'The action is approved and has not ended within `ACTION_WAIT_MS`.',
  )
  @ApiErrorMeanings({
    forbidden:
      '`APPROVAL_FOUR_EYES` is set and the caller requested the action, or the request comes from another site or does not name its origin.',
    insufficient_approval_level:
      'The level of the caller is below the level that the action needs now.',
    invalid_state:
      'The action does not wait for approval, or its incident is resolved and `confirm_resolved` is not set (`details.reason` is `incident_resolved`).',
    kill_switch_active: 'The kill switch is on: the action keeps waiting.',
  })
  async approve(
    @Param('id') id: string,
    @Body() body: ActionApprovalDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovedActionDto> {
    return await answer(this.work, idempotency, reply, presentApproved, (remember) =>
      this.approvals.approve(caller, actionIdOf(id), body, remember),
    );
  }

  @Post('reject')
  @HttpCode(200)
  @Operation(
    'rejectAction',
    'Reject an action',
    'The caller needs the approval level of the action.',
  )
  @ApiAnswer(200, 'The action is rejected.', RejectedActionDto)
  @ApiErrorMeanings({
    insufficient_approval_level: 'The level of the caller is below the level of the action.',
    invalid_state: 'The action does not wait for approval.',
  })
  async reject(
    @Param('id') id: string,
    @Body() { reason }: ActionRejectionDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<RejectedActionDto> {
    const remember = idempotency.remember(presentRejected);
    return presentRejected(await this.approvals.reject(caller, actionIdOf(id), reason, remember));
  }
}

@ApiTags('Actions')
@Controller('api/actions/:id')
export class RollbackController {
  constructor(
    private readonly approvals: ApprovalsService,
    private readonly work: ActionWork,
  ) {}

  @Post('rollback')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'rollBackAction',
    'Undo an action with its inverse',
    'The caller needs the higher of the levels of the action and its inverse. The rollback runs immediately. With `APPROVAL_FOUR_EYES`, a rollback requested by the person who requested the action waits for the approval of another person.',
  )
  @ApiOutcome(
    RolledBackActionDto,
    'The rollback has ended: completed or failed.',
    'The rollback waits for approval, or has not ended within `ACTION_WAIT_MS`.',
  )
  @ApiErrors(
    'insufficient_approval_level',
    'rollback_not_supported',
    'invalid_state',
    'kill_switch_active',
  )
  @ApiErrorMeanings({
    insufficient_approval_level:
      'The level of the caller is below the level of the action or of its inverse.',
    kill_switch_active:
      'The kill switch is on: nothing was rolled back. Try again after it is turned off.',
    invalid_state:
      'The action is not completed, it was rolled back before, or its rollback runs or waits for approval.',
  })
  async rollBack(
    @Param('id') id: string,
    @Body() { reason }: ActionRollbackDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RolledBackActionDto> {
    const original = actionIdOf(id);
    return await answer(this.work, idempotency, reply, presentRollback, (remember) =>
      this.approvals.rollBack(caller, original, reason, remember),
    );
  }
}
