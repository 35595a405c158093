import { IncidentReference } from '../../../incidents/incident-reference.js';
import { sortWords } from '../../../platform/paging/page.js';
import { PageQueryDto } from '../../../platform/paging/page-query.dto.js';
import { Choice, Flag, Id, Instant, JsonObject } from '../../../platform/validation/fields.js';
import { Words } from '../../../platform/validation/query-fields.js';
import {
  PLAYBOOK_RUN_STATUSES,
  type PlaybookRunStatus,
  RUN_OUTCOMES,
  type RunOutcome,
} from '../playbook-run.js';
import type { RunRequest } from '../playbook-runs.service.js';
import { LONGEST_VARIABLES } from '../run-variables.js';
import type { RunListRequest } from '../listing/run-list.repository.js';

export class PlaybookRunRequestDto {
  @IncidentReference({
    optional: true,
    description: 'The incident that it is about: its id, or its number.',
  })
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

  static toRequest(this: void, { incident_id, variables = {} }: PlaybookRunRequestDto): RunRequest {
    return { incidentId: incident_id, variables };
  }
}

const SORTS = sortWords('created_at');

export class PlaybookRunsQueryDto extends PageQueryDto {
  @Words('PlaybookRunStatus', PLAYBOOK_RUN_STATUSES, { optional: true })
  readonly status?: readonly PlaybookRunStatus[];

  @Words('PlaybookRunEnd', RUN_OUTCOMES, {
    optional: true,
    description: 'Those that ended so.',
  })
  readonly outcome?: readonly RunOutcome[];

  @IncidentReference({
    optional: true,
    description: 'About this incident alone: its id, or its number.',
    example: undefined,
  })
  readonly incident_id?: string;

  @Instant({
    optional: true,
    description: 'Those that started from this time on.',
  })
  readonly from?: string;

  @Instant({
    optional: true,
    description: 'Those that started up to and with this time.',
  })
  readonly to?: string;

  @Choice('PlaybookRunSort', SORTS, {
    optional: true,
    default: '-created_at',
    description: 'By the time at which they started.',
  })
  readonly sort: (typeof SORTS)[number] = '-created_at';

  static toRequest(this: void, query: PlaybookRunsQueryDto): RunListRequest {
    const { page, per_page, status, outcome, incident_id, from, to, sort } = query;
    return {
      page,
      per_page,
      filter: {
        statuses: status,
        outcomes: outcome,
        incidentId: incident_id,
        from: from === undefined ? undefined : new Date(from),
        to: to === undefined ? undefined : new Date(to),
      },
      newestFirst: sort === '-created_at',
    };
  }
}

export class AllPlaybookRunsQueryDto extends PlaybookRunsQueryDto {
  @Id('PlaybookId', {
    optional: true,
    description: 'Of this playbook alone, also of a deleted one.',
    example: undefined,
  })
  readonly playbook_id?: string;

  static override toRequest(this: void, query: AllPlaybookRunsQueryDto): RunListRequest {
    const request = PlaybookRunsQueryDto.toRequest(query);
    return { ...request, filter: { ...request.filter, playbookId: query.playbook_id } };
  }
}
