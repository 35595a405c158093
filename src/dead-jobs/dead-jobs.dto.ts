import { sortWords, PageQueryDto } from '../platform/paging/page.js';
import {
  AlwaysTrue,
  Choice,
  Id,
  Instant,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';

const SORTS = sortWords('created_at');

export class DeadJobsQueryDto extends PageQueryDto {
  @Choice('DeadJobSort', SORTS, { optional: true, default: '-created_at' })
  readonly sort: (typeof SORTS)[number] = '-created_at';

  @Text({ optional: true, min: 1, max: 100 })
  readonly queue?: string;
}

export class DeadJobDto {
  @Id('DeadJobId')
  readonly id: string;

  @Text()
  readonly queue: string;

  @WholeNumber({ min: 1 })
  readonly attempts: number;

  @Text()
  readonly error: string;

  @Instant()
  readonly enqueued_at: Date;

  @Instant({ description: 'Time of the last attempt.' })
  readonly created_at: Date;
}

export class RequeuedJobDto {
  @Id('DeadJobId')
  readonly id: string;

  @AlwaysTrue()
  readonly requeued: true;
}
