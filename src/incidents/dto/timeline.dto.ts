import { sortWords } from '../../platform/paging/sort-words.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { Choice, Instant, Nested, Text } from '../../platform/validation/fields.js';
import type { TimelineEntry, TimelineRequest } from '../timeline/timeline-entry.js';

const SORTS = sortWords('at', 'created_at');

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

  static from(this: void, { at, event, actor, summary, subject }: TimelineEntry): TimelineEntryDto {
    return { at: at.toISOString(), event, actor, summary, subject };
  }
}
