import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, IsUUID, Length } from 'class-validator';
import { ACTION_TYPES, type ActionTypeName } from '../catalogue/action-types.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { IsIsoTime, Optional } from '../../platform/validation/decorators.js';
import { Words, wordsPattern } from '../../platform/validation/words.js';
import {
  ACTION_STATUSES,
  type ActionStatus,
  REQUIRED_LEVELS,
  type RequiredLevel,
} from '../action.js';
import { type ActionListRequest, SORT_FIELDS, type SortField } from '../listing/action-list.js';

const SORTS = SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const);

const words = (known: readonly string[], example: string) => ({
  type: 'string' as const,
  pattern: wordsPattern(known),
  required: false,
  description: `${known.join(', ')}: one, or several separated by commas.`,
  example,
});

const LONGEST_NAME = 300;
const name = (description: string) => ({
  type: 'string' as const,
  minLength: 1,
  maxLength: LONGEST_NAME,
  required: false,
  description,
  example: 'alice',
});

/** What every list of actions takes. */
export class IncidentActionsQueryDto extends PageQueryDto {
  @ApiProperty(words(ACTION_STATUSES, 'pending_approval'))
  @Optional()
  @Words(ACTION_STATUSES)
  readonly status?: string;

  @ApiProperty(words(ACTION_TYPES, 'quarantine_email,block_sender'))
  @Optional()
  @Words(ACTION_TYPES)
  readonly action_type?: string;

  @ApiProperty(words(REQUIRED_LEVELS, 'senior'))
  @Optional()
  @Words(REQUIRED_LEVELS)
  readonly approval_level?: string;

  @ApiProperty(name('Requested by this principal, as records show the name.'))
  @Optional()
  @IsString()
  @Length(1, LONGEST_NAME)
  readonly requested_by?: string;

  @ApiProperty(name('Approved by this principal, as records show the name.'))
  @Optional()
  @IsString()
  @Length(1, LONGEST_NAME)
  readonly approved_by?: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    description: 'Whose execution ended strictly after this time.',
    example: '2026-01-31T09:30:00Z',
  })
  @Optional()
  @IsIsoTime()
  readonly executed_after?: string;

  @ApiProperty({
    enum: SORTS,
    enumName: 'ActionSort',
    default: '-requested_at',
    required: false,
    description:
      'created_at is another name of requested_at. A `-` reverses the list; equal keys are in the order of their ids; what was not executed comes last either way.',
    example: '-executed_at',
  })
  @Optional()
  @IsIn(SORTS)
  readonly sort: (typeof SORTS)[number] = '-requested_at';

  static toListRequest(this: void, query: IncidentActionsQueryDto): ActionListRequest {
    const { page, per_page, status, action_type, approval_level, sort } = query;
    const { requested_by, approved_by, executed_after } = query;
    return {
      page,
      per_page,
      filter: {
        ...(status && { statuses: status.split(',') as ActionStatus[] }),
        ...(action_type && { types: action_type.split(',') as ActionTypeName[] }),
        ...(approval_level && { levels: approval_level.split(',') as RequiredLevel[] }),
        ...(requested_by && { requestedBy: requested_by }),
        ...(approved_by && { approvedBy: approved_by }),
        // As a moment: PostgreSQL does not read every zone that a time may be written in.
        ...(executed_after && { executedAfter: new Date(executed_after) }),
      },
      sort: { field: sort.replace('-', '') as SortField, descending: sort.startsWith('-') },
    };
  }
}

export class ActionQueryDto extends IncidentActionsQueryDto {
  @ApiProperty({
    type: 'string',
    format: 'uuid',
    required: false,
    description: 'Of this incident alone.',
    example: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  })
  @Optional()
  @IsUUID('loose')
  readonly incident_id?: string;

  static toRequest(this: void, query: ActionQueryDto): ActionListRequest {
    const request = IncidentActionsQueryDto.toListRequest(query);
    const { incident_id: incidentId } = query;
    return { ...request, filter: { ...request.filter, ...(incidentId && { incidentId }) } };
  }
}
