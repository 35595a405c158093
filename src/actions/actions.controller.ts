import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal } from '../auth/current-principal.js';
import type { Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { ApiAnswer, ApiErrorMeanings, ApiErrors, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { Idempotent } from '../platform/idempotency/idempotent.js';
import type { Idempotency } from '../platform/idempotency/idempotency.js';
import { actionIdOf } from './action-id.js';
import { ActionsService } from './actions.service.js';
import { ActionDto, ActionSummaryDto } from './dto/action.dto.js';
import { ActionQueryDto } from './dto/action-query.dto.js';
import { ActionTypeDto } from './dto/action-type.dto.js';
import { ApiActionRequest } from './dto/action-request.openapi.js';
import {
  ActionRequestDto,
  ExecutedActionDto,
  statusOfExecution,
} from './dto/execute-action.dto.js';
import { ActionRollbackDto, RolledBackActionDto } from './dto/rollback.dto.js';
import { AwaitedRuns } from './execution/awaited-runs.js';
import { IncidentIdPipe } from '../incidents/incident-reference.js';
import { RollbackService } from './requests/rollback.service.js';

@ApiTags('Actions')
@Controller('api/actions')
@Requires('viewer')
export class ActionsController {
  constructor(
    private readonly actions: ActionsService,
    private readonly rollbacks: RollbackService,
    private readonly runs: AwaitedRuns,
  ) {}

  @Get()
  @Operation(
    'listActions',
    'List actions',
    'Of all incidents, and of none. Newest first, by the time at which they were asked for. What waits for a decision: `?status=pending_approval`.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The actions that match, with their exact number.',
    type: ActionSummaryDto,
    list: true,
  })
  async list(@Query(IncidentIdPipe) query: ActionQueryDto): Promise<ListAnswer<ActionSummaryDto>> {
    const page = await this.actions.list(ActionQueryDto.toRequest(query));
    return ListAnswer.of(page, query, ActionSummaryDto.from);
  }

  @Get('types')
  @Operation(
    'listActionTypes',
    'List the types of actions',
    'What can be done, what each type takes, which level has to approve it, what undoes it, and whether an enabled connector provides it now.',
  )
  @ApiAnswer({
    status: 200,
    description: 'All there are.',
    type: ActionTypeDto,
    catalogue: true,
  })
  async types(): Promise<ActionTypeDto[]> {
    return (await this.actions.types()).map(ActionTypeDto.from);
  }

  @Post('execute')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'executeAction',
    'Execute an action without an incident',
    'What a look-up needs, or an action that belongs to no incident. The same rules hold as for an incident: types, parameters and levels are those of `GET /api/actions/types`. Failing is an outcome: the status of the answer is 200, and that of the action `failed`.',
  )
  @ApiActionRequest()
  @ApiAnswer({
    status: 200,
    description: 'It has ended: completed, or failed.',
    type: ExecutedActionDto,
  })
  @ApiAnswer({
    status: 202,
    description: 'It waits for approval, or takes longer than a request does.',
    type: ExecutedActionDto,
  })
  @ApiErrors('duplicate_action', 'kill_switch_active')
  @ApiErrorMeanings({
    duplicate_action:
      'The same action on the same target waits, runs, or was done within `ACTION_REPEAT_MINUTES`, for whatever incident: nothing was requested. `details` tells which, its status, who asked, and when. `repeat: true` asks all the same.',
    kill_switch_active:
      'The kill switch is on: nothing was requested. `details` tells why, who turned it on, and when.',
  })
  async execute(
    @Body() body: ActionRequestDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ExecutedActionDto> {
    const remember = idempotency.remember(ExecutedActionDto.from, {
      status: statusOfExecution,
      provisionalForMs: this.runs.answeredWithinMs,
    });
    const action = await this.actions.execute(caller, ActionRequestDto.toWanted(body), remember);
    void reply.status(statusOfExecution(action));
    return ExecutedActionDto.from(action);
  }

  @Get(':id')
  @Operation(
    'getAction',
    'Read an action',
    'With its parameters, who asked and who decided, its result, and the actions that it undoes or that undid it.',
  )
  @ApiAnswer({
    status: 200,
    description: 'All there is to it.',
    type: ActionDto,
  })
  async get(@Param('id') id: string): Promise<ActionDto> {
    return ActionDto.from(await this.actions.get(actionIdOf(id)));
  }

  @Post(':id/rollback')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'rollBackAction',
    'Undo an action with its inverse',
    'It needs the higher of the levels that the action and its inverse need, and runs at once. Where four eyes are wanted\n' +
      "(`APPROVAL_FOUR_EYES`), a rollback asked for by the person who requested the action waits for another's approval.",
  )
  @ApiAnswer({
    status: 200,
    description: 'The rollback has ended: completed, or failed.',
    type: RolledBackActionDto,
  })
  @ApiAnswer({
    status: 202,
    description: 'The rollback waits for approval, or takes longer than a request does.',
    type: RolledBackActionDto,
  })
  @ApiErrors(
    'insufficient_approval_level',
    'rollback_not_supported',
    'invalid_state',
    'kill_switch_active',
  )
  @ApiErrorMeanings({
    insufficient_approval_level:
      'The level of the caller is below what the action, or its inverse, needs.',
    kill_switch_active:
      'The kill switch is on: nothing was undone, and it can be tried again later.',
    invalid_state:
      'The action has not completed, or it was rolled back, or its rollback is under way or waits for approval.',
  })
  async rollBack(
    @Param('id') id: string,
    @Body() { reason }: ActionRollbackDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RolledBackActionDto> {
    const remember = idempotency.remember(RolledBackActionDto.from, {
      status: statusOfExecution,
      provisionalForMs: this.runs.answeredWithinMs,
    });
    const rollback = await this.rollbacks.rollBack(caller, actionIdOf(id), reason, remember);
    void reply.status(statusOfExecution(rollback));
    return RolledBackActionDto.from(rollback);
  }
}
