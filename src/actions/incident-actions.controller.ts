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
import { ActionsService } from './actions.service.js';
import { ActionSummaryDto } from './dto/action.dto.js';
import { IncidentActionsQueryDto } from './dto/action-query.dto.js';
import { ApiActionRequest } from './dto/action-request.openapi.js';
import {
  ActionRequestDto,
  ExecutedActionDto,
  statusOfExecution,
} from './dto/execute-action.dto.js';
import { IncidentIdPipe } from '../incidents/incident-reference.js';
import { AwaitedRuns } from './execution/awaited-runs.js';

@ApiTags('Actions')
@Controller('api/incidents/:id/actions')
@Requires('viewer')
export class IncidentActionsController {
  constructor(
    private readonly actions: ActionsService,
    private readonly runs: AwaitedRuns,
  ) {}

  @Post()
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'executeIncidentAction',
    'Execute an action on an incident',
    'It is carried out by the connector that provides its type, or waits for the approval that its type, its target and the severity ask for. Failing is an outcome: the status of the answer is 200, and that of the action `failed`.',
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
    not_found: 'There is no such incident.',
    duplicate_action:
      'The same action on the same target waits, runs, or was done within `ACTION_REPEAT_MINUTES`, for whatever incident: nothing was requested. `details` tells which, its status, who asked, and when. `repeat: true` asks all the same.',
    kill_switch_active:
      'The kill switch is on: nothing was requested. `details` tells why, who turned it on, and when.',
  })
  async execute(
    @Param('id', IncidentIdPipe) incidentId: string,
    @Body() body: ActionRequestDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ExecutedActionDto> {
    const remember = idempotency.remember(ExecutedActionDto.from, {
      status: statusOfExecution,
      provisionalForMs: this.runs.answeredWithinMs,
    });
    const wanted = { ...ActionRequestDto.toWanted(body), incidentId };
    const action = await this.actions.execute(caller, wanted, remember);
    void reply.status(statusOfExecution(action));
    return ExecutedActionDto.from(action);
  }

  @Get()
  @Operation(
    'listIncidentActions',
    'List the actions on an incident',
    'Newest first, by the time at which they were asked for; also those of playbooks.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Its actions that match, with their exact number.',
    type: ActionSummaryDto,
    list: true,
  })
  async list(
    @Param('id', IncidentIdPipe) incidentId: string,
    @Query() query: IncidentActionsQueryDto,
  ): Promise<ListAnswer<ActionSummaryDto>> {
    const request = IncidentActionsQueryDto.toListRequest(query);
    const page = await this.actions.listOfIncident(incidentId, request);
    return ListAnswer.of(page, query, ActionSummaryDto.from);
  }
}
