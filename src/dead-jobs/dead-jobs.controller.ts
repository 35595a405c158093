import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { ApiAnswer, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { Idempotent, type Idempotency } from '../platform/idempotency/idempotency.js';
import { DeadJobDto, DeadJobsQueryDto, RequeuedJobDto } from './dead-jobs.dto.js';
import { DeadJobsService } from './dead-jobs.service.js';

/** Jobs that failed for good wait here for a person, instead of vanishing. */
@ApiTags('System')
@Controller('api/jobs/dead')
@Requires('admin')
export class DeadJobsController {
  constructor(private readonly jobs: DeadJobsService) {}

  @Get()
  @Operation(
    'listDeadJobs',
    'List the jobs that failed for good',
    'What the service tried again and again in the background, in vain. Newest first.',
  )
  @ApiAnswer({ status: 200, description: 'The jobs.', type: DeadJobDto, list: true })
  async list(@Query() query: DeadJobsQueryDto): Promise<ListAnswer<DeadJobDto>> {
    const { sort, ...filter } = query;
    const found = await this.jobs.list({ ...filter, ascending: sort === 'created_at' });
    return ListAnswer.of(found, query, DeadJobDto.from);
  }

  @Post(':id/requeue')
  @HttpCode(200)
  @Operation(
    'requeueDeadJob',
    'Put a dead job back into its queue',
    'For when the cause is mended. It has all its attempts again.',
  )
  @ApiAnswer({ status: 200, description: 'It has all its attempts again.', type: RequeuedJobDto })
  async requeue(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<RequeuedJobDto> {
    const remember = idempotency.remember(RequeuedJobDto.from);
    return RequeuedJobDto.from(await this.jobs.requeue(caller, id, remember));
  }
}
