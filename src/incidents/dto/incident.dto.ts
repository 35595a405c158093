import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import {
  Choice,
  Id,
  Instant,
  JsonObject,
  Nested,
  OpenChoices,
  Text,
  TextMap,
  WholeNumber,
} from '../../platform/validation/fields.js';
import {
  type Classification,
  CLASSIFICATIONS,
  type CreatedIncident,
  type Incident,
  INCIDENT_STATUSES,
  type IncidentStatus,
  type IncidentSummary,
  type ListedIncident,
  SEVERITIES,
  type Severity,
} from '../incident.js';
import type { SettledPending } from '../incidents.service.js';
import { INCIDENT_TYPE_DESCRIPTION } from './create-incident.dto.js';
import type { IncidentFields } from '../incident-fields.js';
import {
  FIELDS_DESCRIPTION,
  RAW_DATA_DESCRIPTION,
  RAW_DATA_EXAMPLE,
  TITLE_EXAMPLE,
} from './raw-data.js';
import { VerdictDto } from './verdict.dto.js';

const TIME = '2026-01-31T09:30:00.000Z';

const IncidentNumber = () => Text({ pattern: /^INC-\d{4}-\d{4,}$/, example: 'INC-2026-0042' });

export class CreatedIncidentDto {
  @Id('IncidentId')
  readonly id: string;

  @IncidentNumber()
  readonly incident_number: string;

  @Choice('IncidentStatus', INCIDENT_STATUSES, { example: 'open' })
  readonly status: IncidentStatus;

  @Instant({ example: TIME })
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

/** What lists and the incident itself show alike. */
class IncidentHeadDto {
  @Id('IncidentId')
  readonly id: string;

  @IncidentNumber()
  readonly incident_number: string;

  @Text({ description: INCIDENT_TYPE_DESCRIPTION, example: 'phishing' })
  readonly incident_type: string;

  @Choice('Severity', SEVERITIES, { example: 'high' })
  readonly severity: Severity;

  @Choice('IncidentStatus', INCIDENT_STATUSES, { example: 'open' })
  readonly status: IncidentStatus;

  @Text({ example: 'email-gateway' })
  readonly source: string;

  @Text({
    description:
      'One line that tells it apart: as it was given, or made from the type and raw_data.',
    example: TITLE_EXAMPLE,
  })
  readonly title: string;

  @Instant({ example: TIME })
  readonly created_at: string;

  @Instant({ example: TIME })
  readonly updated_at: string;

  static headOf(this: void, incident: IncidentSummary): IncidentHeadDto {
    return {
      id: incident.id,
      incident_number: incident.incidentNumber,
      incident_type: incident.incidentType,
      severity: incident.severity,
      status: incident.status,
      source: incident.source,
      title: incident.title,
      created_at: incident.createdAt.toISOString(),
      updated_at: incident.updatedAt.toISOString(),
    };
  }
}

const ResolvedAt = () =>
  Instant({ optional: true, description: 'While it is resolved: since when.', example: TIME });

const ResolvedBy = () =>
  Text({ optional: true, description: 'While it is resolved: by whom.', example: 'alice' });

export class IncidentSummaryDto extends IncidentHeadDto {
  @Choice('Classification', CLASSIFICATIONS, { optional: true, example: 'malicious' })
  readonly classification?: Classification;

  @ResolvedAt()
  readonly resolved_at?: string;

  @ResolvedBy()
  readonly resolved_by?: string;

  static from(this: void, incident: ListedIncident): IncidentSummaryDto {
    return {
      ...IncidentHeadDto.headOf(incident),
      classification: incident.classification,
      resolved_at: incident.resolvedAt?.toISOString(),
      resolved_by: incident.resolvedBy,
    };
  }
}

export class WithdrawnDto {
  @WholeNumber({ min: 0, description: 'Actions that waited and are rejected.', example: 2 })
  readonly actions: number;

  @WholeNumber({ min: 0, description: 'Playbook runs that are cancelled.', example: 1 })
  readonly runs: number;
}

export class IncidentDto extends IncidentHeadDto {
  @JsonObject({ description: RAW_DATA_DESCRIPTION, example: RAW_DATA_EXAMPLE })
  readonly raw_data: Record<string, unknown>;

  @TextMap({ description: FIELDS_DESCRIPTION, example: RAW_DATA_EXAMPLE })
  readonly fields: IncidentFields;

  @Nested(() => VerdictDto, { optional: true, description: 'Once it has been triaged.' })
  readonly verdict?: VerdictDto;

  @OpenChoices('ActionTypeName', ACTION_TYPES, { example: ['quarantine_email', 'block_sender'] })
  readonly recommended_actions: readonly string[];

  @Text({
    optional: true,
    description: 'It goes when the status leaves `resolved`; the timeline keeps it.',
    example: 'The sender was blocked.',
  })
  readonly resolution?: string;

  @Instant({ optional: true, description: 'When it was triaged last.', example: TIME })
  readonly triaged_at?: string;

  @ResolvedAt()
  readonly resolved_at?: string;

  @ResolvedBy()
  readonly resolved_by?: string;

  @WholeNumber({
    optional: true,
    min: 1,
    description:
      'In the answer to a change that closes it while actions wait for approval, and keeps them: how many.',
    example: 2,
  })
  readonly pending_actions?: number;

  @Nested(() => WithdrawnDto, {
    optional: true,
    description: 'In the answer to a change that closes it with `pending: withdraw`.',
  })
  readonly withdrawn?: WithdrawnDto;

  /**
   * The incident as JSON in its envelope, with the fields in the order of the contract. raw_data goes through as the text
   * that the database has: that loses no digit of its numbers, and nobody has to parse it.
   */
  static envelopeOf(this: void, incident: Incident, settled: SettledPending = {}): string {
    const { verdict, resolution, triagedAt, resolvedAt, resolvedBy } = incident;
    const { created_at, updated_at, ...before } = IncidentHeadDto.headOf(incident);
    const after: Omit<IncidentDto, 'raw_data' | keyof typeof before> = {
      fields: incident.fields,
      verdict: verdict as VerdictDto | undefined,
      recommended_actions: incident.recommendedActions,
      resolution,
      created_at,
      updated_at,
      triaged_at: triagedAt?.toISOString(),
      resolved_at: resolvedAt?.toISOString(),
      resolved_by: resolvedBy,
      pending_actions: settled.pendingActions,
      withdrawn: settled.withdrawn as WithdrawnDto | undefined,
    };
    const [head, tail] = [JSON.stringify(before), JSON.stringify(after)];
    return `{"data":${head.slice(0, -1)},"raw_data":${incident.rawData},${tail.slice(1)}}`;
  }
}
