import { sortWords } from '../../platform/paging/page.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { Choice } from '../../platform/validation/fields.js';
import type { RunListRequest } from '../records/triage-runs.repository.js';

const SORTS = sortWords('created_at');

export class TriageRunsQueryDto extends PageQueryDto {
  @Choice('TriageRunSort', SORTS, { optional: true, default: '-created_at' })
  readonly sort: (typeof SORTS)[number] = '-created_at';

  static toRequest(this: void, { page, per_page, sort }: TriageRunsQueryDto): RunListRequest {
    return { page, per_page, newestFirst: sort === '-created_at' };
  }
}
