import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { IsJsonObject, Optional } from '../../platform/validation/decorators.js';
import { INCIDENT_TYPE, KNOWN_INCIDENT_TYPES, SEVERITIES, type Severity } from '../incident.js';
import type { WantedIncident } from '../incidents.service.js';
import { RAW_DATA_DESCRIPTION, RAW_DATA_EXAMPLE } from './raw-data.js';

export const LONGEST_SOURCE = 255;
export const NOT_BLANK = /\S/;

export const INCIDENT_TYPE_DESCRIPTION = `An open set. Known: ${KNOWN_INCIDENT_TYPES.join(', ')}.`;
export const BAD_INCIDENT_TYPE =
  'incident_type must be 1 to 64 small letters, digits and underscores, beginning with a letter';

export class CreateIncidentDto {
  @ApiProperty({
    type: 'string',
    pattern: INCIDENT_TYPE.source,
    description: INCIDENT_TYPE_DESCRIPTION,
    example: 'phishing',
  })
  @IsString()
  @Matches(INCIDENT_TYPE, { message: BAD_INCIDENT_TYPE })
  readonly incident_type: string;

  @ApiProperty({
    type: 'string',
    minLength: 1,
    maxLength: LONGEST_SOURCE,
    pattern: NOT_BLANK.source,
    description: 'Where it comes from; any text that is not blank.',
    example: 'email-gateway',
  })
  @IsString()
  @MaxLength(LONGEST_SOURCE)
  @Matches(NOT_BLANK, { message: 'source must not be blank' })
  readonly source: string;

  @ApiProperty({
    enum: SEVERITIES,
    enumName: 'Severity',
    default: 'medium',
    required: false,
    example: 'high',
  })
  @Optional()
  @IsIn(SEVERITIES)
  readonly severity: Severity = 'medium';

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    default: {},
    description: RAW_DATA_DESCRIPTION,
    example: RAW_DATA_EXAMPLE,
  })
  @Optional()
  @IsJsonObject()
  readonly raw_data: Record<string, unknown> = {};

  static toWanted(this: void, body: CreateIncidentDto): WantedIncident {
    return {
      incidentType: body.incident_type,
      source: body.source,
      severity: body.severity,
      rawData: body.raw_data,
    };
  }
}
