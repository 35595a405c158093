import { sortWords } from '../platform/paging/page.js';
import { PageQueryDto } from '../platform/paging/page-query.dto.js';
import {
  AlwaysTrue,
  Choice,
  Id,
  Instant,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';
import type { DeadJob } from '../platform/jobs/jobs.js';

const SORTS = sortWords('created_at');

export class DeadJobsQueryDto extends PageQueryDto {
  @Choice('DeadJobSort', SORTS, { optional: true, default: '-created_at' })
  readonly sort: (typeof SORTS)[number] = '-created_at';

  @Text({ optional: true, min: 1, max: 100, example: 'triage' })
  readonly queue?: string;
}

export class DeadJobDto {
  @Id('DeadJobId')
  readonly id: string;

  @Text({ example: 'triage' })
  readonly queue: string;

  @WholeNumber({ min: 1, example: 9 })
  readonly attempts: number;

  @Text({ example: 'The model did not answer.' })
  readonly error: string;

  @Instant({ example: '2026-11-02T09:30:00.000Z' })
  readonly enqueued_at: string;

  @Instant({ example: '2026-11-02T09:42:00.000Z' })
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
  @Id('DeadJobId')
  readonly id: string;

  @AlwaysTrue()
  readonly requeued: true;

  static from(this: void, id: string): RequeuedJobDto {
    return { id, requeued: true };
  }
}
