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
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { ApiAnswer, ApiErrorMeanings, ApiErrors, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { Idempotent, type Idempotency } from '../platform/idempotency/idempotency.js';
import { present } from '../platform/validation/present.js';
import type { Participant } from '../platform/database/transactions.js';
import { type Action, actionIdOf, responseStatusOf } from './action.js';
import { ActionRequests } from './action-requests.js';
import { Actions } from './actions.js';
import {
  ActionChangesDto,
  ActionDto,
  ActionQueryDto,
  ActionSummaryDto,
  ActionTypeDto,
  ActionRequestDto,
  ExecutedActionDto,
  IncidentActionsQueryDto,
  presentChanges,
  presentExecuted,
  presentSummary,
} from './actions.dto.js';
import { ActionWork } from './execution/action-work.js';
import { Incidents } from '../incidents/incidents.js';
import { IncidentIdPipe } from '../incidents/incident-reference.js';
import { ClientLeft } from '../platform/http/handler-options.js';
import { ChangeFeed } from '../audit/changes/change-feed.js';
import { ApiChanges, ChangesQueryDto } from '../audit/changes/feed-api.js';

const presentType = present(ActionTypeDto);

export async function answer<T>(
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

export const ApiOutcome = (type: Type, ended: string, unfinished: string): MethodDecorator =>
  applyDecorators(ApiAnswer(200, ended, type), ApiAnswer(202, unfinished, type));

const ApiExecutes = (meanings: Parameters<typeof ApiErrorMeanings>[0] = {}): MethodDecorator =>
  applyDecorators(
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
    private readonly actions: Actions,
    private readonly incidents: Incidents,
    private readonly requests: ActionRequests,
    private readonly work: ActionWork,
    private readonly feed: ChangeFeed,
  ) {}

  @Get('actions')
  @Operation(
    'listActions',
    'List actions',
    'Lists the actions of all incidents, and the actions without an incident. Newest first, by `requested_at`. `?status=pending_approval` lists the actions that wait for a decision.',
  )
  @ApiAnswer(200, 'The matching actions, with the exact total.', ActionSummaryDto, { list: true })
  async list(@Query(IncidentIdPipe) query: ActionQueryDto): Promise<ListAnswer<ActionSummaryDto>> {
    const page = await this.actions.list(query);
    return ListAnswer.of(page, query, presentSummary);
  }

  @Get('actions/types')
  @Operation(
    'listActionTypes',
    'List the types of actions',
    'Lists each action type with its parameters, the level that has to approve it, the type that undoes it, and whether an enabled connector provides it now.',
  )
  @ApiAnswer(200, 'All action types.', ActionTypeDto, { catalogue: true })
  async types(): Promise<ActionTypeDto[]> {
    return (await this.requests.types()).map(presentType);
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
      this.requests.execute(caller, body, undefined, remember),
    );
  }

  @Get('actions/changes')
  @ApiChanges('Action', ActionChangesDto)
  async changes(
    @Query() query: ChangesQueryDto,
    @CurrentPrincipal() caller: Principal,
    @ClientLeft() left: AbortSignal,
  ): Promise<ActionChangesDto> {
    return presentChanges(await this.feed.page(this.actions, query, caller, left));
  }

  @Get('actions/:id')
  @Operation(
    'getAction',
    'Read an action',
    'Returns the action with its parameters, requester, decision and result, and the other action of a rollback: the original action or its rollback.',
  )
  @ApiAnswer(200, 'The action.', ActionDto)
  async get(@Param('id') id: string): Promise<ActionDto> {
    return presentSummary(await this.actions.get(actionIdOf(id)));
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
    return await answer(this.work, idempotency, reply, presentExecuted, (remember) =>
      this.requests.execute(caller, body, incidentId, remember),
    );
  }

  @Get('incidents/:id/actions')
  @Operation(
    'listIncidentActions',
    'List the actions on an incident',
    'Newest first, by `requested_at`. Includes the actions of playbooks.',
  )
  @ApiAnswer(200, 'The matching actions of the incident, with the exact total.', ActionSummaryDto, {
    list: true,
  })
  async listOfIncident(
    @Param('id', IncidentIdPipe) incidentId: string,
    @Query() query: IncidentActionsQueryDto,
  ): Promise<ListAnswer<ActionSummaryDto>> {
    const { id: incident_id } = await this.incidents.get(incidentId);
    const page = await this.actions.list({ ...query, incident_id });
    return ListAnswer.of(page, query, presentSummary);
  }
}
