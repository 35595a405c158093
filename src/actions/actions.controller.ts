import {
  applyDecorators,
  Body,
  Controller,
  Get,
  HttpCode,
  Param,
  Post,
  Query,
  Res,
  type Type,
} from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { ApiAnswer, ApiErrorMeanings, ApiErrors, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { Idempotent, type Idempotency } from '../platform/idempotency/idempotency.js';
import { present, type RowOf } from '../platform/validation/present.js';
import type { Participant } from '../platform/database/transactions.js';
import { type Action, actionIdOf, responseStatusOf, withShownIds } from './action.js';
import { ActionRequests } from './action-requests.js';
import { ActionsService } from './actions.service.js';
import { ActionDecisions } from './action-decisions.js';
import {
  ActionApprovalDto,
  ActionChangesDto,
  ActionDto,
  ActionSummaryDto,
  ActionQueryDto,
  ActionRejectionDto,
  ActionRequestDto,
  ActionRollbackDto,
  ApprovedActionDto,
  ExecutedActionDto,
  IncidentActionsQueryDto,
  RejectedActionDto,
  RolledBackActionDto,
  presentChanges,
  presentExecuted,
  presentRollback,
  presentSummary,
} from './actions.dto.js';
import { ActionTypeDto, ApiActionRequest } from './action-types.dto.js';
import { ActionWork } from './execution/action-work.js';
import { IncidentIdPipe } from '../incidents/incident-reference.js';
import { ClientLeft } from '../platform/http/handler-options.js';
import { ApiChanges, ChangesQueryDto } from '../audit/changes/feed-api.js';

const presentType = present(ActionTypeDto);

/** A decided action has the fields that an undecided action has not. */
const presentDecided = <Dto extends object>(type: new () => Dto) => {
  const fields = present(type);
  return (action: Action): Dto => fields(withShownIds(action) as RowOf<Dto>);
};
const presentApproved = presentDecided(ApprovedActionDto);
const presentRejected = presentDecided(RejectedActionDto);

/** Answers 202 with an action that goes on after the answer. */
async function answer<T>(
  { answeredWithinMs: provisionalForMs }: ActionWork,
  idempotency: Idempotency,
  reply: FastifyReply,
  shown: (action: Action) => T,
  run: (remember: Participant<Action>) => Promise<Action>,
): Promise<T> {
  const options = { status: responseStatusOf, provisionalForMs };
  const action = await run(idempotency.remember(shown, options));
  void reply.status(responseStatusOf(action));
  return shown(action);
}

/** Documents the answers with an action that may go on after the answer. */
const ApiOutcome = (type: Type, ended: string, unfinished: string): MethodDecorator =>
  applyDecorators(
    ApiAnswer({ status: 200, description: ended, type }),
    ApiAnswer({ status: 202, description: unfinished, type }),
  );

/** Documents a request for an action. */
const ApiExecutes = (meanings: Parameters<typeof ApiErrorMeanings>[0] = {}): MethodDecorator =>
  applyDecorators(
    ApiActionRequest(),
    ApiOutcome(
      ExecutedActionDto,
      'The action has ended: completed or failed.',
      'The action waits for approval, or has not ended within `ACTION_WAIT_MS`.',
    ),
    ApiErrors('duplicate_action', 'kill_switch_active'),
    ApiErrorMeanings({
      ...meanings,
      duplicate_action:
        'The same action on the same target waits, runs, or was completed within `ACTION_REPEAT_MINUTES`, for any incident. Nothing was requested. An earlier action that does less does not count: a shorter block, a quick scan before a full scan, a block that is over, or a simulated action if a real connector exists now. `details` names the earlier action, its status, who requested it, and when. `repeat: true` requests the action anyway.',
      kill_switch_active:
        'The kill switch is on: nothing was requested. `details` has the reason, who turned it on, and when.',
    }),
  );

@ApiTags('Actions')
@Controller('api')
@Requires('viewer')
export class ActionsController {
  constructor(
    private readonly actions: ActionsService,
    private readonly requests: ActionRequests,
    private readonly work: ActionWork,
    private readonly decisions: ActionDecisions,
  ) {}

  @Get('actions')
  @Operation(
    'listActions',
    'List actions',
    'Lists the actions of all incidents, and those without an incident. Newest first, by `requested_at`. `?status=pending_approval` lists the actions that wait for a decision.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The matching actions, with the exact total.',
    type: ActionSummaryDto,
    list: true,
  })
  async list(@Query(IncidentIdPipe) query: ActionQueryDto): Promise<ListAnswer<ActionSummaryDto>> {
    const page = await this.actions.list(ActionQueryDto.toRequest(query));
    return ListAnswer.of(page, query, presentSummary);
  }

  @Get('actions/types')
  @Operation(
    'listActionTypes',
    'List the types of actions',
    'Lists each action type with its parameters, the level that has to approve it, the type that undoes it, and whether an enabled connector provides it now.',
  )
  @ApiAnswer({
    status: 200,
    description: 'All action types.',
    type: ActionTypeDto,
    catalogue: true,
  })
  async types(): Promise<ActionTypeDto[]> {
    return (await this.actions.types()).map(presentType);
  }

  @Post('actions/execute')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'executeAction',
    'Execute an action without an incident',
    'Executes a look-up, or an action that belongs to no incident. The same rules hold as for an incident: `GET /api/actions/types` lists the types, parameters and levels. A failure is an outcome: the status of the answer is 200, and the status of the action is `failed`.',
  )
  @ApiExecutes()
  async execute(
    @Body() body: ActionRequestDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ExecutedActionDto> {
    return await answer(this.work, idempotency, reply, presentExecuted, (remember) =>
      this.requests.execute(caller, ActionRequestDto.toWanted(body), remember),
    );
  }

  @Get('actions/changes')
  @ApiChanges('Action', ActionChangesDto)
  async changes(
    @Query() query: ChangesQueryDto,
    @CurrentPrincipal() caller: Principal,
    @ClientLeft() left: AbortSignal,
  ): Promise<ActionChangesDto> {
    return presentChanges(await this.actions.changes(query, caller, left));
  }

  @Get('actions/:id')
  @Operation(
    'getAction',
    'Read an action',
    'Returns the action with its parameters, who requested it and who decided, its result, and the action that it rolls back or that rolled it back.',
  )
  @ApiAnswer({ status: 200, description: 'The action.', type: ActionDto })
  async get(@Param('id') id: string): Promise<ActionDto> {
    return presentSummary(await this.actions.get(actionIdOf(id)));
  }

  @Post('actions/:id/rollback')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'rollBackAction',
    'Undo an action with its inverse',
    'The caller needs the higher of the levels of the action and its inverse. The rollback runs at once. With `APPROVAL_FOUR_EYES`, a rollback requested by the person who requested the action waits for the approval of another person.',
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
      this.decisions.rollBack(caller, original, reason, remember),
    );
  }

  @Post('incidents/:id/actions')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'executeIncidentAction',
    'Execute an action on an incident',
    'The connector that provides the type executes the action, or the action waits for approval if its type, its target or the severity requires one. A failure is an outcome: the status of the answer is 200, and the status of the action is `failed`.',
  )
  @ApiExecutes({ not_found: 'There is no such incident.' })
  async executeForIncident(
    @Param('id', IncidentIdPipe) incidentId: string,
    @Body() body: ActionRequestDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ExecutedActionDto> {
    const wanted = { ...ActionRequestDto.toWanted(body), incident_id: incidentId };
    return await answer(this.work, idempotency, reply, presentExecuted, (remember) =>
      this.requests.execute(caller, wanted, remember),
    );
  }

  @Get('incidents/:id/actions')
  @Operation(
    'listIncidentActions',
    'List the actions on an incident',
    'Newest first, by `requested_at`. Includes the actions of playbooks.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The matching actions of the incident, with the exact total.',
    type: ActionSummaryDto,
    list: true,
  })
  async listOfIncident(
    @Param('id', IncidentIdPipe) incidentId: string,
    @Query() query: IncidentActionsQueryDto,
  ): Promise<ListAnswer<ActionSummaryDto>> {
    const request = ActionQueryDto.toRequest(query);
    const page = await this.actions.listOfIncident(incidentId, request);
    return ListAnswer.of(page, query, presentSummary);
  }
}

@ApiTags('Approvals')
@Controller('api/actions/:id')
@Requires('viewer')
export class ApprovalsController {
  constructor(
    private readonly decisions: ActionDecisions,
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
      this.decisions.approve(caller, actionIdOf(id), body, remember),
    );
  }

  @Post('reject')
  @HttpCode(200)
  @Operation(
    'rejectAction',
    'Reject an action',
    'The caller needs the approval level of the action.',
  )
  @ApiAnswer({ status: 200, description: 'The action is rejected.', type: RejectedActionDto })
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
    return presentRejected(await this.decisions.reject(caller, actionIdOf(id), reason, remember));
  }
}
