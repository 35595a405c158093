import { sortWords } from '../platform/paging/sort-words.js';
import { PageQueryDto } from '../platform/paging/page-query.dto.js';
import type { Verification } from './verification/audit-verifier.js';
import {
  Choice,
  Flag,
  Id,
  Instant,
  JsonObject,
  Nested,
  Text,
  WholeNumber,
} from '../platform/validation/fields.js';
import type { AuditRecord } from './audit.service.js';
import { AUDIT_ACTIONS, type AuditAction } from './audit-actions.js';

const SORTS = sortWords('at', 'created_at');

/** The longest text that the columns hold, with the note at its end that it was cut. */
const LONGEST = 300;

export const From = () =>
  Instant({ optional: true, description: 'From this time on.', example: '2026-11-02T09:30:00Z' });
export const To = () =>
  Instant({
    optional: true,
    description: 'Up to and with this time.',
    example: '2026-11-03T09:30:00Z',
  });

export class AuditQueryDto extends PageQueryDto {
  @Choice('AuditSort', SORTS, {
    optional: true,
    default: '-created_at',
    description: '`at` is the same as `created_at`.',
  })
  readonly sort: (typeof SORTS)[number] = '-created_at';

  @Text({ optional: true, min: 1, max: LONGEST, example: 'j.doe' })
  readonly actor?: string;

  @Choice('AuditAction', AUDIT_ACTIONS, { optional: true, example: 'incident.created' })
  readonly action?: AuditAction;

  @Text({
    optional: true,
    min: 1,
    max: 2 * LONGEST,
    description: 'A type, an id, or a type and an id with a colon between them.',
    example: 'incident:0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  })
  readonly subject?: string;

  @From()
  readonly from?: string;

  @To()
  readonly to?: string;
}

export class AuditSubjectDto {
  @Text({ example: 'incident' })
  readonly type: string;

  @Text({ example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e' })
  readonly id: string;
}

export class AuditRecordDto {
  @Id('AuditRecordId')
  readonly id: string;

  @Instant({ example: '2026-11-02T09:30:00.000Z' })
  readonly at: string;

  @Text({ example: 'j.doe' })
  readonly actor: string;

  @Text({ example: 'incident.created' })
  readonly action: string;

  @Nested(() => AuditSubjectDto)
  readonly subject: AuditSubjectDto;

  @JsonObject({ example: { severity: 'high' } })
  readonly details: Readonly<Record<string, unknown>>;

  @Text({
    optional: true,
    pattern: /^[0-9a-f]{64}$/,
    description: "The entry's place in the chain; absent for about a second, until it is sealed.",
    example: 'e7245c02fa85453515ee642b5d0ef83395763dc00457cc87c127937c136f866a',
  })
  readonly hash?: string;

  static from(this: void, record: AuditRecord): AuditRecordDto {
    return {
      id: record.id,
      at: record.at.toISOString(),
      actor: record.actor,
      action: record.action,
      subject: { type: record.subject.type, id: record.subject.id },
      details: record.details,
      hash: record.hash,
    };
  }
}

export class AuditVerificationDto {
  @Flag({ description: 'No entry was changed, removed or inserted.', example: true })
  readonly valid: boolean;

  @WholeNumber({
    min: 0,
    description: 'Sealed entries that are as they were written, up to the first that is not.',
    example: 1284,
  })
  readonly checked: number;

  @WholeNumber({ min: 0, description: 'Entries that wait to be sealed.', example: 3 })
  readonly unsealed: number;

  @WholeNumber({
    optional: true,
    min: 1,
    description:
      'Entries among the sealed ones whose key was lost: they are as they were when it was given up, and nobody can tell what happened to them before. Absent when there are none.',
    example: 312,
  })
  readonly taken_over?: number;

  @Id('AuditRecordId', {
    optional: true,
    description:
      'The first entry that is not as it was written; absent when only the end of the trail is missing.',
  })
  readonly first_invalid_id?: string;

  @Flag({
    optional: true,
    description:
      'The trail does not lead through an end that this service has seen, or that AUDIT_ANCHOR_FILE holds: it was put back to an earlier state, or made anew. Absent when it does.',
    example: true,
  })
  readonly head_rewound?: true;

  @WholeNumber({
    optional: true,
    min: 1,
    description: 'Entries that were removed before they were sealed; absent when there are none.',
    example: 2,
  })
  readonly missing?: number;

  static from(this: void, found: Verification): AuditVerificationDto {
    const { valid, checked, unsealed, taken_over, first_invalid_id, head_rewound, missing } = found;
    return { valid, checked, unsealed, taken_over, first_invalid_id, head_rewound, missing };
  }
}
