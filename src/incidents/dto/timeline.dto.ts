import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { sortWords } from '../../platform/paging/page.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import {
  Choice,
  Field,
  Instant,
  JsonObject,
  Nested,
  NestedList,
  OpenChoice,
  Text,
} from '../../platform/validation/fields.js';

const SORTS = sortWords('at', 'created_at');

export class TimelineQueryDto extends PageQueryDto {
  @Choice('TimelineSort', SORTS, {
    optional: true,
    default: 'at',
    description: '`created_at` is the same as `at`.',
  })
  readonly sort: (typeof SORTS)[number] = 'at';
}

export class TimelineSubjectDto {
  @Text()
  readonly type: string;

  @Text()
  readonly id: string;
}

const AnyValue = (description: string) =>
  Field({ optional: true, description }, { allOf: [{ $ref: '#/components/schemas/AnyJson' }] });

class TimelineChangeDto {
  @Text({ description: 'Name of the field.' })
  readonly field: string;

  @AnyValue('Previous value; absent if there was none.')
  readonly from?: unknown;

  @AnyValue('New value; absent if it was removed.')
  readonly to?: unknown;
}

export class TimelineDetailsDto {
  @OpenChoice('ActionTypeName', ACTION_TYPES, { optional: true })
  readonly action_type?: string;

  @Text({
    optional: true,
    description: 'Target of the action: its first parameter, cut if it is long.',
  })
  readonly target?: string;

  @JsonObject({ optional: true, description: 'Parameters of a requested action.' })
  readonly parameters?: Readonly<Record<string, unknown>>;

  @Text({ optional: true, description: 'Action that this action rolls back.' })
  readonly rollback_of?: string;

  @Text({ optional: true, description: 'Reason of a request, rollback or rejection.' })
  readonly reason?: string;

  @Text({ optional: true, description: 'Comment of the approver.' })
  readonly comment?: string;

  @Text({ optional: true, description: 'Resolution, also if the incident was reopened.' })
  readonly resolution?: string;

  @NestedList(() => TimelineChangeDto, { optional: true, description: 'Fields that changed.' })
  readonly changes?: readonly TimelineChangeDto[];
}

export class TimelineEntryDto {
  @Instant()
  readonly at: Date;

  @Text({
    description:
      'An open set: created, updated, triaged, resolved, severity_lowered (of a critical incident), triage_requested (asynchronously), triage_completed, triage_failed, and events of its actions.',
  })
  readonly event: string;

  @Text({ description: 'Name of a principal.' })
  readonly actor: string;

  @Text()
  readonly summary: string;

  @Nested(() => TimelineSubjectDto, { optional: true })
  readonly subject?: TimelineSubjectDto;

  @Nested(() => TimelineDetailsDto, {
    optional: true,
    description: 'Facts of the entry for programs, with full texts. Absent if there are none.',
  })
  readonly details?: TimelineDetailsDto;
}
