import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { shownActionId } from '../../actions/action.js';
import { ActionWork } from '../../actions/execution/action-work.js';
import { CurrentPrincipal, type Principal } from '../../auth/principal.js';
import { Requires } from '../../platform/access/access.js';
import { type Idempotency, Idempotent } from '../../platform/idempotency/idempotency.js';
import { ApiAnswer, Operation, SAME_KEY_UNDER_WAY } from '../../platform/openapi/answers.js';
import { ListAnswer } from '../../platform/paging/page.js';
import { present } from '../../platform/validation/present.js';
import { ByNameOrId } from '../playbook.dto.js';
import { IncidentIdPipe } from '../../incidents/incident-reference.js';
import { outcomeOf, type PlaybookRun, type PlaybookRunWithSteps, turnOf } from './playbook-run.js';
import {
  AllPlaybookRunsQueryDto,
  PlaybookDryRunDto,
  PlaybookRunDto,
  PlaybookRunRequestDto,
  PlaybookRunsQueryDto,
  PlaybookRunSummaryDto,
  StartedPlaybookRunDto,
} from './runs.dto.js';
import { RunsService } from './runs.service.js';

const presentSummary = (run: PlaybookRun): PlaybookRunSummaryDto =>
  present(PlaybookRunSummaryDto)(shown(run));

function presentRun(run: PlaybookRunWithSteps): PlaybookRunDto {
  const steps = run.playbook.definition.steps.map(({ name, action }, position) => {
    const reached = run.steps[position];
    if (!reached) return { name, action, status: 'pending' } as const;
    const done = reached.action;
    const action_id = done ? shownActionId(done.id) : undefined;
    const shared_action = done?.borrowed ? { ...done, action_id: action_id! } : undefined;
    const result = done?.result && { ...done.result };
    return { ...done, ...reached, action, action_id, shared_action, result };
  });
  return present(PlaybookRunDto)({ ...shown(run), steps });
}

const presentStarted = (run: PlaybookRunWithSteps): StartedPlaybookRunDto => ({
  kind: 'run',
  dry_run: false,
  ...presentRun(run),
});

function shown(run: PlaybookRun) {
  const { id: run_id, playbook_name: playbook } = run;
  return { ...run, run_id, playbook, outcome: outcomeOf(run), starts_at: turnOf(run) };
}

function statusOfRun({ completed_at }: PlaybookRun): number {
  return completed_at ? 200 : 202;
}

const NO_SUCH_RUN = 'There is no such playbook, or no such run of it.';

const AnswersRuns = ApiAnswer(
  200,
  'The matching runs of all versions, with their exact number.',
  PlaybookRunSummaryDto,
  { list: true },
);

/** Generated clients need the field `kind`, because they cannot select a type by a boolean such as `dry_run`. */
const RUN_OUTCOME = {
  name: 'PlaybookRunOutcome',
  types: [StartedPlaybookRunDto, PlaybookDryRunDto],
  by: { field: 'kind', words: { run: StartedPlaybookRunDto, dry_run: PlaybookDryRunDto } },
};

@ApiTags('Playbooks')
@Controller('api')
@Requires('viewer')
export class PlaybookRunsController {
  constructor(
    private readonly runs: RunsService,
    private readonly work: ActionWork,
  ) {}

  @Post('playbooks/:id/run')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'runPlaybook',
    'Run a playbook',
    'Takes the steps in order, and responds when the run has ended or waits, after `ACTION_WAIT_MS` at the latest. The run continues without the request, also after restarts, and waits for approvals for days. Actions need their usual approval levels. With `dry_run` the response shows the effect of each step, and nothing is executed. A dry run is also possible if the playbook is disabled or the kill switch is on.',
  )
  @ByNameOrId({
    not_found: 'There is no such playbook, or no such incident.',
    conflict: SAME_KEY_UNDER_WAY,
    invalid_state: 'The playbook is disabled.',
    kill_switch_active: 'The kill switch is on. Only a dry run is possible.',
  })
  @ApiBody({ type: PlaybookRunRequestDto, required: false })
  @ApiAnswer(200, 'The run has ended, or it was a dry run: see `kind`.', RUN_OUTCOME)
  @ApiAnswer(202, 'The run continues, or waits for the approval of an action.', RUN_OUTCOME)
  async run(
    @Param('id') playbook: string,
    @Body(IncidentIdPipe) body: PlaybookRunRequestDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StartedPlaybookRunDto | PlaybookDryRunDto> {
    if (body.dry_run) return await this.runs.dryRun(playbook, body);
    const remember = idempotency.remember(presentStarted, {
      status: statusOfRun,
      provisionalForMs: this.work.answeredWithinMs,
    });
    const run = await this.runs.run(caller, playbook, body, remember);
    void reply.status(statusOfRun(run));
    return presentStarted(run);
  }

  @Get('playbooks/:id/runs')
  @Operation(
    'listPlaybookRuns',
    'List the runs of a playbook',
    'The runs of a deleted playbook can be listed by its id.',
  )
  @ByNameOrId()
  @AnswersRuns
  async list(
    @Param('id') playbook: string,
    @Query(IncidentIdPipe) query: PlaybookRunsQueryDto,
  ): Promise<ListAnswer<PlaybookRunSummaryDto>> {
    return ListAnswer.of(await this.runs.list(query, playbook), query, presentSummary);
  }

  @Get('playbooks/:id/runs/:run_id')
  @Operation(
    'getPlaybookRun',
    'Read a playbook run',
    'A run of a deleted playbook can be read by the id of the playbook.',
  )
  @ByNameOrId({ not_found: NO_SUCH_RUN })
  @ApiAnswer(200, 'The run with all of its steps.', PlaybookRunDto)
  async get(
    @Param('id') playbook: string,
    @Param('run_id') runId: string,
  ): Promise<PlaybookRunDto> {
    return presentRun(await this.runs.get(runId, playbook));
  }

  @Post('playbooks/:id/runs/:run_id/cancel')
  @HttpCode(200)
  @Requires('analyst')
  @Operation(
    'cancelPlaybookRun',
    'Cancel a playbook run',
    'No further step begins. An action of the run that waits for approval is rejected in the name of the caller, who needs the level of the action unless the caller started the run. An action that needs no approval and has not begun is also rejected. An action that is being executed continues to its end.',
  )
  @ByNameOrId({
    not_found: NO_SUCH_RUN,
    conflict: SAME_KEY_UNDER_WAY,
    invalid_state: 'The run has ended.',
    insufficient_approval_level:
      'The caller did not start the run, and an action of it waits for a higher approval level than the caller has.',
  })
  @ApiAnswer(200, 'The cancelled run.', PlaybookRunDto)
  async cancel(
    @Param('id') playbook: string,
    @Param('run_id') runId: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<PlaybookRunDto> {
    const remember = idempotency.remember(presentRun);
    return presentRun(await this.runs.cancel(caller, playbook, runId, remember));
  }

  @Get('playbook-runs')
  @Operation(
    'listAllPlaybookRuns',
    'List the runs of all playbooks',
    'Includes the runs of deleted playbooks.',
  )
  @AnswersRuns
  async listAll(
    @Query(IncidentIdPipe) query: AllPlaybookRunsQueryDto,
  ): Promise<ListAnswer<PlaybookRunSummaryDto>> {
    return ListAnswer.of(await this.runs.list(query), query, presentSummary);
  }

  @Get('playbook-runs/:run_id')
  @Operation(
    'findPlaybookRun',
    'Read a playbook run by its id alone',
    'Actions have the id of their run as `playbook_run_id`. Also reads runs of deleted playbooks.',
  )
  @ApiAnswer(200, 'The run with all of its steps.', PlaybookRunDto)
  async find(@Param('run_id') runId: string): Promise<PlaybookRunDto> {
    return presentRun(await this.runs.get(runId));
  }
}
