import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { Idempotent, type Idempotency } from '../platform/idempotency/idempotency.js';
import { ApiAnswer, ApiErrorMeanings, ApiErrors, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { present } from '../platform/validation/present.js';
import { DeadJobDto, DeadJobsQueryDto, RequeuedJobDto } from './dead-jobs.dto.js';
import { DeadJobsService } from './dead-jobs.service.js';

const presentJob = present(DeadJobDto);
const presentRequeued = (id: string): RequeuedJobDto => ({ id, requeued: true });

@ApiTags('System')
@Controller('api/jobs/dead')
@Requires('admin')
export class DeadJobsController {
  constructor(private readonly jobs: DeadJobsService) {}

  @Get()
  @Operation(
    'listDeadJobs',
    'List dead jobs',
    'Returns the background jobs whose attempts all failed. Newest first.',
  )
  @ApiAnswer(200, 'The jobs.', DeadJobDto, { list: true })
  async list(@Query() query: DeadJobsQueryDto): Promise<ListAnswer<DeadJobDto>> {
    return ListAnswer.of(await this.jobs.list(query), query, presentJob);
  }

  @Post(':id/requeue')
  @HttpCode(200)
  @Operation(
    'requeueDeadJob',
    'Put a dead job back into its queue',
    'Use it after you have repaired the cause. The job has all its attempts again. A job of a triage or playbook run cannot be put back: its run has failed.',
  )
  @ApiAnswer(200, 'The job is queued.', RequeuedJobDto)
  @ApiErrors('invalid_state')
  @ApiErrorMeanings({
    invalid_state:
      'The run of the job has failed. A failed run does not continue: start a new run.',
  })
  async requeue(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<RequeuedJobDto> {
    const remember = idempotency.remember(presentRequeued);
    return presentRequeued(await this.jobs.requeue(caller, id, remember));
  }
}
