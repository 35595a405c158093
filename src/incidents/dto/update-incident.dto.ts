import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { ValidationError } from '../../platform/errors/app-error.js';
import { NestedObject, Optional } from '../../platform/validation/decorators.js';
import { ACTION_TYPES, type ActionTypeName } from '../../actions/catalogue/action-types.js';
import type { IncidentChange } from '../incident-changes.js';
import {
  INCIDENT_STATUSES,
  INCIDENT_TYPE,
  type IncidentStatus,
  SEVERITIES,
  type Severity,
} from '../incident.js';
import { BAD_INCIDENT_TYPE, INCIDENT_TYPE_DESCRIPTION } from './create-incident.dto.js';
import { GivenVerdictDto } from './verdict.dto.js';

const MOST_ACTIONS = 100;
const LONGEST_RESOLUTION = 10_000;

@ApiSchema({ description: 'At least one field; what is left out stays.' })
export class UpdateIncidentDto {
  @ApiProperty({ enum: SEVERITIES, enumName: 'Severity', required: false, example: 'critical' })
  @Optional()
  @IsIn(SEVERITIES)
  readonly severity?: Severity;

  @ApiProperty({
    enum: INCIDENT_STATUSES,
    enumName: 'IncidentStatus',
    required: false,
    description: 'Any may follow any other. `triaged` is manual triage: it sets triaged_at.',
    example: 'resolved',
  })
  @Optional()
  @IsIn(INCIDENT_STATUSES)
  readonly status?: IncidentStatus;

  @ApiProperty({
    type: 'string',
    maxLength: LONGEST_RESOLUTION,
    required: false,
    example: 'The sender was blocked and the message removed from all mailboxes.',
  })
  @Optional()
  @IsString()
  @MaxLength(LONGEST_RESOLUTION)
  readonly resolution?: string;

  @ApiProperty({
    type: 'string',
    pattern: INCIDENT_TYPE.source,
    required: false,
    description: INCIDENT_TYPE_DESCRIPTION,
    example: 'bec',
  })
  @Optional()
  @IsString()
  @Matches(INCIDENT_TYPE, { message: BAD_INCIDENT_TYPE })
  readonly incident_type?: string;

  @ApiProperty({
    type: GivenVerdictDto,
    required: false,
    description:
      'Manual triage: it sets triaged_at, makes an open incident triaged, and replaces the verdict there was.',
  })
  @Optional()
  @NestedObject(() => GivenVerdictDto)
  readonly verdict?: GivenVerdictDto;

  @ApiProperty({
    enum: ACTION_TYPES,
    enumName: 'ActionTypeName',
    isArray: true,
    maxItems: MOST_ACTIONS,
    required: false,
    example: ['quarantine_email', 'block_sender'],
  })
  @Optional()
  @IsArray()
  @ArrayMaxSize(MOST_ACTIONS)
  @IsIn(ACTION_TYPES, { each: true })
  readonly recommended_actions?: ActionTypeName[];

  static toChange(this: void, body: UpdateIncidentDto): IncidentChange {
    const { severity, status, resolution, incident_type, verdict, recommended_actions } = body;
    const change = {
      severity,
      status,
      resolution,
      ...(incident_type && { incidentType: incident_type }),
      verdict: verdict && { ...verdict },
      recommendedActions: recommended_actions,
    };
    if (Object.values(change).some((value) => value !== undefined)) return change;
    throw ValidationError.nothingGiven();
  }
}
