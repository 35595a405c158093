import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { sortWords } from '../../platform/paging/sort-words.js';
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

import type {
  TimelineDetails,
  TimelineEntry,
  TimelineRequest,
} from '../timeline/timeline-entry.js';

const SORTS = sortWords('at', 'created_at');

const ACTION = 'act-0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

export class TimelineQueryDto extends PageQueryDto {
  @Choice('TimelineSort', SORTS, {
    optional: true,
    default: 'at',
    description: '`created_at` is the same as `at`.',
  })
  readonly sort: (typeof SORTS)[number] = 'at';

  static toRequest(this: void, { page, per_page, sort }: TimelineQueryDto): TimelineRequest {
    return { page, per_page, newestFirst: sort.startsWith('-') };
  }
}

export class TimelineSubjectDto {
  @Text({ example: 'triage' })
  readonly type: string;

  @Text({ example: '0193f2b6-9a44-7c1e-8a0b-9f4e2f0a7b6c' })
  readonly id: string;
}

const AnyValue = (description: string, example: unknown) =>
  Field(
    { optional: true, description, example },
    { allOf: [{ $ref: '#/components/schemas/AnyJson' }] },
  );

export class TimelineChangeDto {
  @Text({ description: 'The name of the field.', example: 'severity' })
  readonly field: string;

  @AnyValue('What it was; absent where there was nothing.', 'medium')
  readonly from?: unknown;

  @AnyValue('What it is; absent where there is nothing any more.', 'critical')
  readonly to?: unknown;
}

export class TimelineDetailsDto {
  @OpenChoice('ActionTypeName', ACTION_TYPES, { optional: true, example: 'isolate_host' })
  readonly action_type?: string;

  @Text({
    optional: true,
    description: 'What the action is done to: its first parameter, cut when it is long.',
    example: 'ws-042',
  })
  readonly target?: string;

  @JsonObject({
    optional: true,
    description: 'Of an action that was requested.',
    example: { host_id: 'ws-042' },
  })
  readonly parameters?: Readonly<Record<string, unknown>>;

  @Text({ optional: true, description: 'The action that this one undoes.', example: ACTION })
  readonly rollback_of?: string;

  @Text({
    optional: true,
    description: 'Why an action was requested, rolled back or rejected.',
    example: 'It was a false alarm.',
  })
  readonly reason?: string;

  @Text({
    optional: true,
    description: 'What the approver said.',
    example: 'The user confirms it.',
  })
  readonly comment?: string;

  @Text({
    optional: true,
    description: 'How it was resolved, also when it is not any more.',
    example: 'The sender was blocked.',
  })
  readonly resolution?: string;

  @NestedList(() => TimelineChangeDto, { optional: true, description: 'Fields that changed.' })
  readonly changes?: readonly TimelineChangeDto[];

  static from(this: void, details: TimelineDetails): TimelineDetailsDto {
    const { action_type, target, parameters, rollback_of, reason, comment } = details;
    const { resolution, changes } = details;
    return {
      ...{ action_type, target, parameters, rollback_of, reason, comment, resolution },
      changes: changes?.map(({ field, from, to }) => ({ field, from, to })),
    };
  }
}

export class TimelineEntryDto {
  @Instant({ example: '2026-01-31T09:30:00.000Z' })
  readonly at: string;

  @Text({
    description:
      'An open set: created, updated, triaged, resolved, severity_lowered (of a critical incident), triage_requested (by somebody who does not wait), triage_completed, triage_failed, and what happens to its actions.',
    example: 'triage_completed',
  })
  readonly event: string;

  @Text({ description: 'The name of a principal.', example: 'alice' })
  readonly actor: string;

  @Text({ example: 'rules found it malicious (phishing), confidence 0.85. 0.1 s.' })
  readonly summary: string;

  @Nested(() => TimelineSubjectDto, { optional: true })
  readonly subject?: TimelineSubjectDto;

  @Nested(() => TimelineDetailsDto, {
    optional: true,
    description:
      'The same for programs and with whole texts, where there is more to say. Older entries have none.',
  })
  readonly details?: TimelineDetailsDto;

  static from(this: void, entry: TimelineEntry): TimelineEntryDto {
    const { at, event, actor, summary, subject, details } = entry;
    return {
      ...{ at: at.toISOString(), event, actor, summary, subject },
      details: details && TimelineDetailsDto.from(details),
    };
  }
}
