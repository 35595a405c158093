import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { IncidentIdPipe } from '../incidents/incident-reference.js';
import { Requires } from '../platform/access/access.js';
import {
  ApiPreferAsync,
  PREFERENCE_APPLIED_HEADER,
  PrefersAsync,
} from '../platform/http/handler-options.js';
import { type Idempotency, Idempotent } from '../platform/idempotency/idempotency.js';
import { Limited } from '../platform/limits/limits.js';
import { ApiAnswer, ApiErrorMeanings, ApiErrors, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import {
  presentTriageRun,
  TriageRequestDto,
  type TriageRun,
  TriageRunDto,
  TriageRunsQueryDto,
  TriageRunSummaryDto,
} from './triage-run.js';
import { TriageService } from './triage.service.js';

const statusOf = ({ status }: TriageRun): number => (status === 'completed' ? 200 : 202);

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
    'Asks the model for a verdict and waits for it, up to `TRIAGE_TIMEOUT_MS`. If there is a completed run, the response is ' +
      'that run and the model is not asked, unless `force` is set, or the verdict was not applied because the incident was ' +
      'resolved and it is open again. A run that waits starts immediately. If a run is in progress, the response is 409. Without `force`, a run changes ' +
      'neither the verdict of a person nor a resolved incident; the run is kept. The service does not execute recommended ' +
      'actions. The kill switch stops runs that ask a model outside, but not the built-in rules.',
  )
  @ApiBody({ type: TriageRequestDto, required: false })
  @ApiPreferAsync()
  @ApiAnswer(200, 'The completed run.', TriageRunDto)
  @ApiAnswer(
    202,
    'The run waits, because the request prefers that, or because the service stopped during the run.',
    TriageRunDto,
    { headers: PREFERENCE_APPLIED_HEADER },
  )
  @ApiErrors('triage_in_progress', 'kill_switch_active', 'ai_unavailable')
  @ApiErrorMeanings({
    triage_in_progress: 'A run of the incident is in progress: `details.triage_id`.',
    kill_switch_active: 'The kill switch is on and the run would ask a model outside.',
  })
  async request(
    @Param('id', IncidentIdPipe) incident_id: string,
    @Body() { playbook, force = false }: TriageRequestDto,
    @PrefersAsync() later: boolean,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TriageRunDto> {
    const completed = idempotency.remember(presentTriageRun, {
      status: statusOf,
      provisionalForMs: this.triage.answeredWithinMs,
    });
    const waiting = { completed, failed: idempotency.release() };
    const wanted = { incident_id, playbook: playbook ?? null, force };
    const run = await this.triage.triage(caller, wanted, later, waiting);
    void reply.status(statusOf(run));
    return presentTriageRun(run);
  }

  @Get()
  @Operation(
    'listTriageRuns',
    'List the triage runs of an incident',
    'Without `tool_calls` and `points`: read a single run for them.',
  )
  @ApiAnswer(200, 'Runs of the incident, with their exact number.', TriageRunSummaryDto, {
    list: true,
  })
  async list(
    @Param('id', IncidentIdPipe) incidentId: string,
    @Query() query: TriageRunsQueryDto,
  ): Promise<ListAnswer<TriageRunSummaryDto>> {
    const page = await this.triage.list(incidentId, query);
    return ListAnswer.of(page, query, presentTriageRun);
  }

  @Get(':triage_id')
  @Operation(
    'getTriageRun',
    'Read a triage run',
    'With `tool_calls`, the questions of the model, and `points` of the rules.',
  )
  @ApiAnswer(
    200,
    'The run with its verdict, its evidence and the questions of the model.',
    TriageRunDto,
  )
  async get(
    @Param('id', IncidentIdPipe) incidentId: string,
    @Param('triage_id') triageId: string,
  ): Promise<TriageRunDto> {
    return presentTriageRun(await this.triage.get(incidentId, triageId));
  }
}
