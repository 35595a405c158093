import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import {
  KnowsRespondAsync,
  PREFERENCE_APPLIED_HEADER,
  PrefersAsync,
  setRespondedAsync,
} from '../platform/http/prefer.js';
import { type Idempotency, Idempotent } from '../platform/idempotency/idempotency.js';
import { Limited } from '../platform/limits/request-limits.js';
import { ApiAnswer, ApiErrorMeanings, ApiErrors, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { TriageRequestDto } from './dto/request-triage.dto.js';
import { TriageRunsQueryDto } from './dto/triage-list.dto.js';
import { statusOfTriage, TriageRunDto, TriageRunSummaryDto } from './dto/triage-run.dto.js';
import { IncidentIdPipe } from '../incidents/incident-reference.js';
import { TriageService } from './triage.service.js';

@ApiTags('Triage')
@Controller('api/incidents/:id/triage')
@Requires('viewer')
export class IncidentTriageController {
  constructor(private readonly triage: TriageService) {}

  @Post()
  @HttpCode(200)
  @Requires('analyst')
  @Limited('triage')
  @Operation(
    'triageIncident',
    'Triage an incident',
    'Asks the model for a verdict and waits for it, up to `TRIAGE_TIMEOUT_MS`. Where there is a completed run, that one is ' +
      'answered and the model is not asked again, unless `force` says so, or it was kept back because the incident was ' +
      'resolved and is open again. A run that waits is begun at once and answered; one that is running is 409. A verdict that a person gave and a resolved incident ' +
      'stay as they are without `force`; the run is kept. Nothing that it recommends is done by it. The kill switch stops it ' +
      'where the model is asked outside; the built-in rules go on.',
  )
  @ApiBody({ type: TriageRequestDto, required: false })
  @KnowsRespondAsync()
  @ApiAnswer({
    status: 200,
    description: 'The completed run.',
    type: TriageRunDto,
  })
  @ApiAnswer({
    status: 202,
    description:
      'It waits and is carried out later: because the request prefers that, or because the service stopped meanwhile.',
    type: TriageRunDto,
    headers: PREFERENCE_APPLIED_HEADER,
  })
  @ApiErrors('triage_in_progress', 'kill_switch_active', 'ai_unavailable')
  @ApiErrorMeanings({
    triage_in_progress: 'A run of the incident is under way: `details.triage_id` says which.',
    kill_switch_active:
      'The kill switch is on, and the model would be asked outside. The built-in rules go on.',
  })
  async request(
    @Param('id', IncidentIdPipe) incidentId: string,
    @Body() { playbook, force = false }: TriageRequestDto,
    @PrefersAsync() later: boolean,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TriageRunDto> {
    const completed = idempotency.remember(TriageRunDto.from, {
      status: statusOfTriage,
      provisionalForMs: this.triage.answeredWithinMs,
    });
    const wanted = { incidentId, playbook, force, later };
    const run = await this.triage.triage(caller, wanted, {
      completed,
      failed: idempotency.release(),
    });
    void reply.status(statusOfTriage(run));
    setRespondedAsync(reply);
    return TriageRunDto.from(run);
  }

  @Get()
  @Operation(
    'listTriageRuns',
    'List the triage runs of an incident',
    'Without what the model asked (`tool_calls`) and the points that rules gave (`points`): a run on its own shows them.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Its runs, with their exact number.',
    type: TriageRunSummaryDto,
    list: true,
  })
  async list(
    @Param('id', IncidentIdPipe) incidentId: string,
    @Query() query: TriageRunsQueryDto,
  ): Promise<ListAnswer<TriageRunSummaryDto>> {
    const page = await this.triage.list(incidentId, TriageRunsQueryDto.toRequest(query));
    return ListAnswer.of(page, query, TriageRunSummaryDto.from);
  }

  @Get(':triage_id')
  @Operation(
    'getTriageRun',
    'Read a triage run',
    'With `tool_calls`, what the model asked and was told, and `points`, what the rules counted.',
  )
  @ApiAnswer({
    status: 200,
    description: 'All there is to it: the verdict, its evidence, and what the model asked.',
    type: TriageRunDto,
  })
  async get(
    @Param('id', IncidentIdPipe) incidentId: string,
    @Param('triage_id') triageId: string,
  ): Promise<TriageRunDto> {
    return TriageRunDto.from(await this.triage.get(incidentId, triageId));
  }
}
