import { PageQueryDto } from '../../../platform/paging/page-query.dto.js';
import { Choice, Flag, Id, JsonObject } from '../../../platform/validation/fields.js';
import { Words } from '../../../platform/validation/query-fields.js';
import { PLAYBOOK_RUN_STATUSES, type PlaybookRunStatus } from '../playbook-run.js';
import type { RunRequest } from '../playbook-runs.service.js';
import type { RunListRequest } from '../records/playbook-runs.repository.js';
import { LONGEST_VARIABLES } from '../run-variables.js';

export class RunPlaybookDto {
  @Id({ optional: true, description: 'The incident that it is about.' })
  readonly incident_id?: string;

  @JsonObject({
    optional: true,
    description: `Other values for variables of the playbook, of the same types: at most ${LONGEST_VARIABLES} characters as JSON.`,
    example: { channel: '#soc-night' },
  })
  readonly variables?: Record<string, unknown>;

  @Flag({
    optional: true,
    default: false,
    description: 'Tells what each step would do, and does nothing.',
  })
  readonly dry_run?: boolean = false;

  static toRequest(this: void, { incident_id, variables = {} }: RunPlaybookDto): RunRequest {
    return { incidentId: incident_id, variables };
  }
}

const SORTS = ['-created_at', 'created_at'] as const;

export class PlaybookRunsQueryDto extends PageQueryDto {
  @Words(PLAYBOOK_RUN_STATUSES, { optional: true })
  readonly status?: string;

  @Id({ optional: true, description: 'About this incident alone.', example: undefined })
  readonly incident_id?: string;

  @Choice('PlaybookRunSort', SORTS, {
    optional: true,
    default: '-created_at',
    description: 'By the time at which they started.',
  })
  readonly sort: (typeof SORTS)[number] = '-created_at';

  static toRequest(this: void, query: PlaybookRunsQueryDto): RunListRequest {
    const { page, per_page, status, incident_id, sort } = query;
    return {
      page,
      per_page,
      statuses: status?.split(',') as PlaybookRunStatus[] | undefined,
      incidentId: incident_id,
      newestFirst: sort === '-created_at',
    };
  }
}
