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
import { LONGEST_VARIABLES } from '../run-variables.js';

export class PlaybookRunRequestDto {
  @IncidentReference({
    optional: true,
    description: 'Id or number of the incident.',
  })
  readonly incident_id?: string;

  @JsonObject({
    optional: true,
    description: `Values that replace the defaults of variables, with the same types. At most ${LONGEST_VARIABLES} characters as JSON.`,
    example: { channel: '#soc-night' },
  })
  readonly variables?: Record<string, unknown>;

  @Flag({
    optional: true,
    default: false,
    description: 'Returns the effect of each step and executes nothing.',
  })
  readonly dry_run?: boolean = false;
}

const SORTS = sortWords('created_at');

export class PlaybookRunsQueryDto extends PageQueryDto {
  @Words('PlaybookRunStatus', PLAYBOOK_RUN_STATUSES, { optional: true })
  readonly status?: readonly PlaybookRunStatus[];

  @Words('PlaybookRunEnd', RUN_OUTCOMES, {
    optional: true,
    description: 'Runs that ended with one of these outcomes.',
  })
  readonly outcome?: readonly RunOutcome[];

  @IncidentReference({
    optional: true,
    description: 'Id or number of the incident.',
    example: undefined,
  })
  readonly incident_id?: string;

  @Instant({
    optional: true,
    description: 'Runs that started at or after this time.',
  })
  readonly from?: string;

  @Instant({
    optional: true,
    description: 'Runs that started at or before this time.',
  })
  readonly to?: string;

  @Choice('PlaybookRunSort', SORTS, {
    optional: true,
    default: '-created_at',
    description: 'Order by the time of the start.',
  })
  readonly sort: (typeof SORTS)[number] = '-created_at';
}

export class AllPlaybookRunsQueryDto extends PlaybookRunsQueryDto {
  @Id('PlaybookId', {
    optional: true,
    description: 'Id of the playbook, also of a deleted one.',
    example: undefined,
  })
  readonly playbook_id?: string;
}
