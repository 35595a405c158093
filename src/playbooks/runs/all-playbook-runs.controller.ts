import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../platform/access/access.js';
import { ApiAnswer, Operation } from '../../platform/openapi/answers.js';
import { ListAnswer } from '../../platform/paging/page.js';
import { PlaybookRunDto, PlaybookRunSummaryDto } from './dto/playbook-run.dto.js';
import { AllPlaybookRunsQueryDto } from './dto/run-requests.dto.js';
import { IncidentIdPipe } from '../../incidents/incident-reference.js';
import { PlaybookRunsService } from './playbook-runs.service.js';

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
