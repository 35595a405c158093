import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../../auth/principal.js';
import { Requires } from '../../platform/access/access.js';
import { type Idempotency, Idempotent } from '../../platform/idempotency/idempotency.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
  SAME_KEY_UNDER_WAY,
} from '../../platform/openapi/answers.js';
import { ListAnswer } from '../../platform/paging/page.js';
import { ByNameOrId, NO_SUCH_PLAYBOOK } from '../playbook.dto.js';
import { PlaybookDryRunDto } from './dto/dry-run.dto.js';
import {
  PlaybookRunDto,
  PlaybookRunSummaryDto,
  StartedPlaybookRunDto,
  statusOfRun,
} from './dto/playbook-run.dto.js';
import {
  AllPlaybookRunsQueryDto,
  PlaybookRunRequestDto,
  PlaybookRunsQueryDto,
} from './dto/run-requests.dto.js';
import { IncidentIdPipe } from '../../incidents/incident-reference.js';
import { PlaybookRunsService } from './playbook-runs.service.js';

const NO_SUCH_RUN = 'There is no such playbook, or no such run of it.';

/** `kind` tells which it is: generated clients tell types apart by a word, and not by a boolean such as `dry_run`. */
const RUN_OUTCOME = {
  name: 'PlaybookRunOutcome',
  types: [StartedPlaybookRunDto, PlaybookDryRunDto],
  by: { field: 'kind', words: { run: StartedPlaybookRunDto, dry_run: PlaybookDryRunDto } },
};

@ApiTags('Playbooks')
@Controller('api/playbooks/:id')
@Requires('viewer')
export class PlaybookRunsController {
  constructor(private readonly runs: PlaybookRunsService) {}

  @Post('run')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'runPlaybook',
    'Run a playbook',
    'Takes its steps one after the other, and answers when the run has ended or waits, at the latest after `ACTION_WAIT_MS`: ' +
      'it goes on without the request, for days where it has to wait for an approval, and over restarts. The approval levels of ' +
      'actions hold as everywhere. With `dry_run` it tells what each step would do, and does nothing: a disabled playbook may be ' +
      'tried so, too, and any one while the kill switch is on.',
  )
  @ByNameOrId()
  @ApiBody({ type: PlaybookRunRequestDto, required: false })
  @ApiAnswer({
    status: 200,
    description: 'The run has ended, or was a dry one: `kind` tells which.',
    type: RUN_OUTCOME,
  })
  @ApiAnswer({
    status: 202,
    description: 'It is running, or waits for the approval of an action.',
    type: RUN_OUTCOME,
  })
  @ApiErrors('invalid_state', 'kill_switch_active')
  @ApiErrorMeanings({
    not_found: 'There is no such playbook, or no such incident.',
    conflict: SAME_KEY_UNDER_WAY,
    invalid_state: 'The playbook is disabled.',
    kill_switch_active: 'The kill switch is on: no run was begun. A dry run is possible.',
  })
  async run(
    @Param('id') playbook: string,
    @Body(IncidentIdPipe) body: PlaybookRunRequestDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StartedPlaybookRunDto | PlaybookDryRunDto> {
    const request = PlaybookRunRequestDto.toRequest(body);
    if (body.dry_run) return PlaybookDryRunDto.from(await this.runs.dryRun(playbook, request));
    const remember = idempotency.remember(StartedPlaybookRunDto.from, {
      status: statusOfRun,
      provisionalForMs: this.runs.answeredWithinMs,
    });
    const run = await this.runs.run(caller, playbook, request, remember);
    void reply.status(statusOfRun(run));
    return StartedPlaybookRunDto.from(run);
  }

  @Get('runs')
  @Operation(
    'listPlaybookRuns',
    'List the runs of a playbook',
    'Those of a deleted playbook by its id.',
  )
  @ByNameOrId()
  @ApiErrorMeanings({ not_found: NO_SUCH_PLAYBOOK })
  @ApiAnswer({
    status: 200,
    description: 'Its runs that match, of all its versions, with their exact number.',
    type: PlaybookRunSummaryDto,
    list: true,
  })
  async list(
    @Param('id') playbook: string,
    @Query(IncidentIdPipe) query: PlaybookRunsQueryDto,
  ): Promise<ListAnswer<PlaybookRunSummaryDto>> {
    const page = await this.runs.listOf(playbook, PlaybookRunsQueryDto.toRequest(query));
    return ListAnswer.of(page, query, PlaybookRunSummaryDto.from);
  }

  @Get('runs/:run_id')
  @Operation(
    'getPlaybookRun',
    'Read a playbook run',
    'That of a deleted playbook by the id of the playbook.',
  )
  @ByNameOrId()
  @ApiAnswer({
    status: 200,
    description: 'All there is to it, with each of its steps.',
    type: PlaybookRunDto,
  })
  @ApiErrorMeanings({ not_found: NO_SUCH_RUN })
  async get(
    @Param('id') playbook: string,
    @Param('run_id') runId: string,
  ): Promise<PlaybookRunDto> {
    return PlaybookRunDto.from(await this.runs.get(playbook, runId));
  }

  @Post('runs/:run_id/cancel')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'cancelPlaybookRun',
    'Cancel a playbook run',
    "No further step begins. An action of it that waits for approval is rejected in the name of the caller, who needs the level of that action unless the run is the caller's own. One that needs none and has not begun is rejected, too; one that is being executed ends by itself.",
  )
  @ByNameOrId()
  @ApiAnswer({
    status: 200,
    description: 'The cancelled run.',
    type: PlaybookRunDto,
  })
  @ApiErrors('invalid_state', 'insufficient_approval_level')
  @ApiErrorMeanings({
    not_found: NO_SUCH_RUN,
    conflict: SAME_KEY_UNDER_WAY,
    invalid_state: 'The run has ended.',
    insufficient_approval_level:
      'An action of the run of somebody else waits for approval, and needs a higher level than that of the caller.',
  })
  async cancel(
    @Param('id') playbook: string,
    @Param('run_id') runId: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<PlaybookRunDto> {
    const remember = idempotency.remember(PlaybookRunDto.from);
    return PlaybookRunDto.from(await this.runs.cancel(caller, playbook, runId, remember));
  }
}

@ApiTags('Playbooks')
@Controller('api/playbook-runs')
@Requires('viewer')
export class AllPlaybookRunsController {
  constructor(private readonly runs: PlaybookRunsService) {}

  @Get()
  @Operation(
    'listAllPlaybookRuns',
    'List the runs of all playbooks',
    'Those of deleted playbooks are among them.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The runs that match, with their exact number.',
    type: PlaybookRunSummaryDto,
    list: true,
  })
  async list(
    @Query(IncidentIdPipe) query: AllPlaybookRunsQueryDto,
  ): Promise<ListAnswer<PlaybookRunSummaryDto>> {
    const page = await this.runs.list(AllPlaybookRunsQueryDto.toRequest(query));
    return ListAnswer.of(page, query, PlaybookRunSummaryDto.from);
  }

  @Get(':run_id')
  @Operation(
    'findPlaybookRun',
    'Read a playbook run by its id alone',
    'It is the `playbook_run_id` of an action that a step asked for. The run says which playbook it is of, also of a deleted one.',
  )
  @ApiAnswer({
    status: 200,
    description: 'All there is to it, with each of its steps.',
    type: PlaybookRunDto,
  })
  async find(@Param('run_id') runId: string): Promise<PlaybookRunDto> {
    return PlaybookRunDto.from(await this.runs.find(runId));
  }
}
