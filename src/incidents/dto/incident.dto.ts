import { ApiProperty } from '@nestjs/swagger';
import { ACTION_TYPES } from '../../actions/catalogue/action-types.js';
import {
  type CreatedIncident,
  type Incident,
  INCIDENT_STATUSES,
  type IncidentStatus,
  type IncidentSummary,
  SEVERITIES,
  type Severity,
} from '../incident.js';
import { INCIDENT_TYPE_DESCRIPTION } from './create-incident.dto.js';
import { RAW_DATA_DESCRIPTION, RAW_DATA_EXAMPLE } from './raw-data.js';
import { VerdictDto } from './verdict.dto.js';

const ID = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
const NUMBER = {
  type: 'string',
  pattern: '^INC-\\d{4}-\\d{4,}$',
  example: 'INC-2026-0042',
} as const;
const TIME = '2026-01-31T09:30:00.000Z';

export class CreatedIncidentDto {
  @ApiProperty({ type: 'string', format: 'uuid', example: ID })
  readonly id: string;

  @ApiProperty(NUMBER)
  readonly incident_number: string;

  @ApiProperty({ enum: INCIDENT_STATUSES, enumName: 'IncidentStatus', example: 'open' })
  readonly status: IncidentStatus;

  @ApiProperty({ type: 'string', format: 'date-time', example: TIME })
  readonly created_at: string;

  static from(this: void, created: CreatedIncident): CreatedIncidentDto {
    return {
      id: created.id,
      incident_number: created.incidentNumber,
      status: created.status,
      created_at: created.createdAt.toISOString(),
    };
  }
}

export class IncidentSummaryDto {
  @ApiProperty({ type: 'string', format: 'uuid', example: ID })
  readonly id: string;

  @ApiProperty(NUMBER)
  readonly incident_number: string;

  @ApiProperty({ type: 'string', description: INCIDENT_TYPE_DESCRIPTION, example: 'phishing' })
  readonly incident_type: string;

  @ApiProperty({ enum: SEVERITIES, enumName: 'Severity', example: 'high' })
  readonly severity: Severity;

  @ApiProperty({ enum: INCIDENT_STATUSES, enumName: 'IncidentStatus', example: 'open' })
  readonly status: IncidentStatus;

  @ApiProperty({ type: 'string', example: 'email-gateway' })
  readonly source: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: TIME })
  readonly created_at: string;

  @ApiProperty({ type: 'string', format: 'date-time', example: TIME })
  readonly updated_at: string;

  static from(this: void, incident: IncidentSummary): IncidentSummaryDto {
    return {
      id: incident.id,
      incident_number: incident.incidentNumber,
      incident_type: incident.incidentType,
      severity: incident.severity,
      status: incident.status,
      source: incident.source,
      created_at: incident.createdAt.toISOString(),
      updated_at: incident.updatedAt.toISOString(),
    };
  }
}

export class IncidentDto extends IncidentSummaryDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: RAW_DATA_DESCRIPTION,
    example: RAW_DATA_EXAMPLE,
  })
  readonly raw_data: Record<string, unknown>;

  @ApiProperty({ type: VerdictDto, required: false, description: 'Once it has been triaged.' })
  readonly verdict?: VerdictDto;

  @ApiProperty({
    enum: ACTION_TYPES,
    enumName: 'ActionTypeName',
    isArray: true,
    example: ['quarantine_email', 'block_sender'],
  })
  readonly recommended_actions: readonly string[];

  @ApiProperty({ type: 'string', required: false, example: 'The sender was blocked.' })
  readonly resolution?: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    required: false,
    description: 'When it was triaged last.',
    example: TIME,
  })
  readonly triaged_at?: string;

  /**
   * As JSON in the envelope, in the order of the contract. What the source said goes through as text, which loses no
   * digit and costs no parsing.
   */
  static envelopeOf(this: void, incident: Incident): string {
    const { verdict, resolution, triagedAt } = incident;
    const { created_at, updated_at, ...before } = IncidentSummaryDto.from(incident);
    const after: Omit<IncidentDto, 'raw_data' | keyof typeof before> = {
      verdict: verdict && (verdict as VerdictDto),
      recommended_actions: incident.recommendedActions,
      resolution,
      created_at,
      updated_at,
      triaged_at: triagedAt && triagedAt.toISOString(),
    };
    const [head, tail] = [JSON.stringify(before), JSON.stringify(after)];
    return `{"data":${head.slice(0, -1)},"raw_data":${incident.rawData},${tail.slice(1)}}`;
  }
}

export class DeletedIncidentDto {
  @ApiProperty({ type: 'string', format: 'uuid', example: ID })
  readonly id: string;

  @ApiProperty({ type: 'boolean', enum: [true], example: true })
  readonly deleted: true;
}
