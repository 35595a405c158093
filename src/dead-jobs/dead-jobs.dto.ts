import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, Length } from 'class-validator';
import { PageQueryDto } from '../platform/paging/page-query.dto.js';
import { Optional } from '../platform/validation/decorators.js';
import type { DeadJob } from '../platform/jobs/jobs.js';

const SORTS = ['-created_at', 'created_at'] as const;
const ID = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

export class DeadJobsQueryDto extends PageQueryDto {
  @ApiProperty({ enum: SORTS, enumName: 'DeadJobSort', default: '-created_at', required: false })
  @Optional()
  @IsIn(SORTS)
  readonly sort: (typeof SORTS)[number] = '-created_at';

  @ApiProperty({ type: 'string', required: false, maxLength: 100, example: 'triage' })
  @Optional()
  @IsString()
  @Length(1, 100)
  readonly queue?: string;
}

export class DeadJobDto {
  @ApiProperty({ type: 'string', format: 'uuid', example: ID })
  readonly id: string;

  @ApiProperty({ type: 'string', example: 'triage' })
  readonly queue: string;

  @ApiProperty({ type: 'integer', minimum: 1, example: 9 })
  readonly attempts: number;

  @ApiProperty({ type: 'string', example: 'The model did not answer.' })
  readonly error: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-02T09:30:00.000Z' })
  readonly enqueued_at: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-02T09:42:00.000Z' })
  readonly created_at: string;

  static from(this: void, job: DeadJob): DeadJobDto {
    return {
      id: job.id,
      queue: job.queue,
      attempts: job.attempts,
      error: job.error,
      enqueued_at: job.enqueuedAt.toISOString(),
      created_at: job.diedAt.toISOString(),
    };
  }
}

export class RequeuedJobDto {
  @ApiProperty({ type: 'string', format: 'uuid', example: ID })
  readonly id: string;

  @ApiProperty({ type: 'boolean', enum: [true], example: true })
  readonly requeued: true;

  static from(this: void, id: string): RequeuedJobDto {
    return { id, requeued: true };
  }
}
