import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, Length } from 'class-validator';
import { PageQueryDto } from '../platform/paging/page-query.dto.js';
import { IsIsoTime, Optional } from '../platform/validation/decorators.js';
import type { Verification } from './verification/audit-verifier.js';
import type { AuditRecord } from './audit.service.js';
import { AUDIT_ACTIONS, type AuditAction } from './audit-actions.js';

const SORTS = ['-created_at', 'created_at', '-at', 'at'] as const;

/** As long as the columns may be, with the note on what was cut. */
const LONGEST = 300;

const Time = (description: string, example: string): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: 'string', format: 'date-time', required: false, description, example }),
    Optional(),
    IsIsoTime(),
  );
export const From = () => Time('From this time on.', '2026-11-02T09:30:00Z');
export const To = () => Time('Up to and with this time.', '2026-11-03T09:30:00Z');

export class AuditQueryDto extends PageQueryDto {
  @ApiProperty({
    enum: SORTS,
    enumName: 'AuditSort',
    default: '-created_at',
    required: false,
    description: '`at` is the same as `created_at`.',
  })
  @Optional()
  @IsIn(SORTS)
  readonly sort: (typeof SORTS)[number] = '-created_at';

  @ApiProperty({ type: 'string', required: false, maxLength: LONGEST, example: 'j.doe' })
  @Optional()
  @IsString()
  @Length(1, LONGEST)
  readonly actor?: string;

  @ApiProperty({
    enum: AUDIT_ACTIONS,
    enumName: 'AuditAction',
    required: false,
    example: 'incident.created',
  })
  @Optional()
  @IsIn(AUDIT_ACTIONS)
  readonly action?: AuditAction;

  @ApiProperty({
    type: 'string',
    required: false,
    maxLength: 2 * LONGEST,
    description: 'A type, an id, or a type and an id with a colon between them.',
    example: 'incident:0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  })
  @Optional()
  @IsString()
  @Length(1, 2 * LONGEST)
  readonly subject?: string;

  @From()
  readonly from?: string;

  @To()
  readonly to?: string;
}

export class AuditSubjectDto {
  @ApiProperty({ type: 'string', example: 'incident' })
  readonly type: string;

  @ApiProperty({ type: 'string', example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e' })
  readonly id: string;
}

export class AuditRecordDto {
  @ApiProperty({ type: 'string', format: 'uuid', example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e' })
  readonly id: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: '2026-11-02T09:30:00.000Z' })
  readonly at: string;

  @ApiProperty({ type: 'string', example: 'j.doe' })
  readonly actor: string;

  @ApiProperty({ type: 'string', example: 'incident.created' })
  readonly action: string;

  @ApiProperty({ type: AuditSubjectDto })
  readonly subject: AuditSubjectDto;

  @ApiProperty({ type: 'object', additionalProperties: true, example: { severity: 'high' } })
  readonly details: Readonly<Record<string, unknown>>;

  @ApiProperty({
    type: 'string',
    pattern: '^[0-9a-f]{64}$',
    required: false,
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

/** As most see it. What is only there when something is wrong, or was lost, is not in it. */
export const VERIFICATION_EXAMPLE = { data: { valid: true, checked: 1284, unsealed: 3 } };

export class AuditVerificationDto {
  @ApiProperty({
    type: 'boolean',
    description: 'No entry was changed, removed or inserted.',
    example: true,
  })
  readonly valid: boolean;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'Sealed entries that are as they were written, up to the first that is not.',
    example: 1284,
  })
  readonly checked: number;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    description: 'Entries that wait to be sealed.',
    example: 3,
  })
  readonly unsealed: number;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    required: false,
    description:
      'Entries among the sealed ones whose key was lost: they are as they were when it was given up, and nobody can tell what happened to them before. Absent when there are none.',
    example: 312,
  })
  readonly taken_over?: number;

  @ApiProperty({
    type: 'string',
    format: 'uuid',
    required: false,
    description:
      'The first entry that is not as it was written; absent when only the end of the trail is missing.',
    example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  })
  readonly first_invalid_id?: string;

  @ApiProperty({
    type: 'boolean',
    required: false,
    description:
      'The trail does not lead through an end that this service has seen, or that AUDIT_ANCHOR_FILE holds: it was put back to an earlier state, or made anew. Absent when it does.',
    example: true,
  })
  readonly head_rewound?: true;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    required: false,
    description: 'Entries that were removed before they were sealed; absent when there are none.',
    example: 2,
  })
  readonly missing?: number;

  static from(this: void, found: Verification): AuditVerificationDto {
    const { valid, checked, unsealed, taken_over, first_invalid_id, head_rewound, missing } = found;
    return {
      valid,
      checked,
      unsealed,
      taken_over,
      first_invalid_id,
      head_rewound,
      missing,
    };
  }
}
