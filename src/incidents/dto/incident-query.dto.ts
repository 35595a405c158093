import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, Length } from 'class-validator';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { IsIsoTime, Optional } from '../../platform/validation/decorators.js';
import { WordList, wordListPattern, Words, wordsPattern } from '../../platform/validation/words.js';
import {
  INCIDENT_STATUSES,
  INCIDENT_TYPE,
  type IncidentStatus,
  SEVERITIES,
  type Severity,
} from '../incident.js';
import { type IncidentListRequest, SORT_FIELDS, type SortField } from '../listing/incident-list.js';
import { LONGEST_SOURCE } from './create-incident.dto.js';

const SORTS = SORT_FIELDS.flatMap((field) => [field, `-${field}`] as const);

export class IncidentQueryDto extends PageQueryDto {
  @ApiProperty({
    type: 'string',
    pattern: wordsPattern(INCIDENT_STATUSES),
    required: false,
    description: `${INCIDENT_STATUSES.join(', ')}: one, or several separated by commas.`,
    example: 'open,triaged',
  })
  @Optional()
  @Words(INCIDENT_STATUSES)
  readonly status?: string;

  @ApiProperty({
    type: 'string',
    pattern: wordsPattern(SEVERITIES),
    required: false,
    description: `${SEVERITIES.join(', ')}: one, or several separated by commas.`,
    example: 'high,critical',
  })
  @Optional()
  @Words(SEVERITIES)
  readonly severity?: string;

  @ApiProperty({
    type: 'string',
    pattern: wordListPattern('[a-z][a-z0-9_]{0,63}'),
    required: false,
    description: 'One incident type, or several separated by commas.',
    example: 'phishing,bec',
  })
  @Optional()
  @WordList((word) => INCIDENT_TYPE.test(word), 'an incident type')
  readonly type?: string;

  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: LONGEST_SOURCE,
    required: false,
    description: 'Exactly this source.',
    example: 'email-gateway',
  })
  @Optional()
  @IsString()
  @Length(1, LONGEST_SOURCE)
  readonly source?: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    description:
      'Created strictly after this time: a created_at that was answered leaves its own incident out.',
    example: '2026-01-01T00:00:00Z',
  })
  @Optional()
  @IsIsoTime()
  readonly created_after?: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    description: 'Created strictly before this time.',
    example: '2027-01-01T00:00:00Z',
  })
  @Optional()
  @IsIsoTime()
  readonly created_before?: string;

  @ApiProperty({
    enum: SORTS,
    enumName: 'IncidentSort',
    default: '-created_at',
    required: false,
    description:
      'severity sorts by rank. A `-` reverses the list; equal keys are in the order of their ids; what has no triaged_at comes last either way.',
    example: '-severity',
  })
  @Optional()
  @IsIn(SORTS)
  readonly sort: (typeof SORTS)[number] = '-created_at';

  static toRequest(this: void, query: IncidentQueryDto): IncidentListRequest {
    const { page, per_page, status, severity, type, source, created_after, created_before } = query;
    return {
      page,
      per_page,
      filter: {
        ...(status && { statuses: status.split(',') as IncidentStatus[] }),
        ...(severity && { severities: severity.split(',') as Severity[] }),
        ...(type && { types: type.split(',') }),
        ...(source && { source }),
        ...(created_after && { createdAfter: created_after }),
        ...(created_before && { createdBefore: created_before }),
      },
      sort: {
        field: query.sort.replace('-', '') as SortField,
        descending: query.sort.startsWith('-'),
      },
    };
  }
}
