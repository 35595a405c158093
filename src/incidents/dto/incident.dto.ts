import { OmitType, PickType } from '@nestjs/swagger';
import { INCIDENT_FIELDS, type IncidentFields } from '../incident-fields.js';
import {
  jsonWithRawData,
  MOST_RAW_DATA_BYTES,
  MOST_RAW_DATA_LEVELS,
  PHISHING_KEYS,
} from '../raw-data-rules.js';
import {
  Choice,
  Decimal,
  Id,
  Nested,
  NestedList,
  Text,
  Texts,
  Instant,
  JsonObject,
  OpenChoices,
  TextMap,
  WholeNumber,
  Scalar,
} from '../../platform/validation/fields.js';
import { present } from '../../platform/validation/present.js';
import { NullIsAbsent } from '../../platform/validation/json-shield.js';
import {
  CLASSIFICATIONS,
  type Classification,
  type Incident,
  INCIDENT_STATUSES,
  type IncidentStatus,
  SEVERITIES,
  type Severity,
  SOURCE_STATUSES,
  type SourceStatus,
  KNOWN_INCIDENT_TYPES,
} from '../incident.js';
import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import type { SettledPending } from '../incidents.service.js';

export const INCIDENT_TYPE_DESCRIPTION = `An open set. Known: ${KNOWN_INCIDENT_TYPES.join(', ')}.`;

export const RAW_DATA_DESCRIPTION = `The event as its source tells it: any JSON object of at most ${
  MOST_RAW_DATA_BYTES / 1024
} KiB and ${MOST_RAW_DATA_LEVELS} levels. For \`phishing\` the keys ${PHISHING_KEYS.map(
  (key) => `\`${key}\``,
).join(', ')} are strings when they are there, \`received_at\` an ISO 8601 time.`;

const FIELDS_DESCRIPTION = `What the event says, in words that are the same for every tool; each value is one text. Playbooks, titles and triage read them here. Well-known: ${Object.entries(
  INCIDENT_FIELDS,
)
  .map(([name, meaning]) => `\`${name}\` (${meaning})`)
  .join(
    ', ',
  )}. The mapping of a webhook source may add others. For an incident that is created by the API these are the well-known keys of its \`raw_data\`.`;

const MOST_ITEMS = 200;

export class IndicatorDto {
  @Text({ min: 1, max: 64 })
  readonly type: string;

  @Text({ min: 1, max: 2048 })
  readonly value: string;

  @Text({
    optional: true,
    min: 1,
    max: 512,
    description: 'Location of the value, such as the JSON pointer of a field.',
  })
  readonly found_in?: string;
}

export class EvidenceDto {
  @Text({
    min: 1,
    max: 128,
    description:
      '`raw_data` or `fields` of the incident, `report/<id>` for the `raw_data` of a later report, or the id of a tool call.',
  })
  readonly source: string;

  @Text({ min: 0, max: 512, description: 'JSON pointer from the root of the source.' })
  readonly pointer: string;

  @Scalar({ description: 'Value at the pointer.' })
  readonly value: string | number | boolean;
}

/** A verdict without its author. */
class VerdictFieldsDto {
  @Choice('Classification', CLASSIFICATIONS)
  readonly classification: Classification;

  @Decimal({ optional: true, min: 0, max: 1 })
  readonly confidence?: number;

  @Text({
    optional: true,
    pattern: /^[a-z][a-z0-9_]{0,63}$/,
    message: 'category must be lower-case letters, digits and underscores',
    description:
      'An open set. Known: phishing, spear_phishing, bec, malware_delivery, spam, malware, ransomware, cryptominer, rat, pup, brute_force, credential_stuffing, impossible_travel, account_takeover, legitimate, unknown.',
  })
  readonly category?: string;

  @Text({ optional: true, min: 0, max: 20_000 })
  readonly reasoning?: string;

  @NestedList(() => IndicatorDto, { optional: true, maxItems: MOST_ITEMS })
  readonly indicators?: IndicatorDto[];

  @Texts({
    optional: true,
    maxItems: MOST_ITEMS,
    pattern: /^T[0-9]{4}(\.[0-9]{3})?$/,
    message: 'mitre_techniques must be technique ids such as T1566.001',
    description: 'MITRE ATT&CK techniques.',
  })
  readonly mitre_techniques?: string[];

  @NestedList(() => EvidenceDto, { optional: true, maxItems: MOST_ITEMS })
  readonly evidence?: EvidenceDto[];
}

/** Fields that a person may set with PUT. */
@NullIsAbsent()
export class GivenVerdictDto extends VerdictFieldsDto {}

/** Verdict of the last triage run before a person decided. */
export class ProposedVerdictDto extends PickType(VerdictFieldsDto, [
  'classification',
  'confidence',
  'category',
  'reasoning',
]) {
  @Id('TriageId', { optional: true, description: 'The run.' })
  readonly triage_id?: string;
}

export class VerdictDto extends VerdictFieldsDto {
  @Text({
    description: 'Principal who gave or confirmed the verdict, or `system` for an automatic run.',
  })
  readonly decided_by: string;

  @Text({
    optional: true,
    description: 'Model of an automatic run; `rules` for the rule-based scorer.',
  })
  readonly model?: string;

  @Id('TriageId', { optional: true, description: 'The run.' })
  readonly triage_id?: string;

  @Nested(() => ProposedVerdictDto, {
    optional: true,
    description:
      'Of a verdict that a person gave or confirmed: the verdict of the last run before it, or of a run that judged a later report.',
  })
  readonly proposed?: ProposedVerdictDto;
}

const IncidentNumber = () => Text({ pattern: /^INC-\d{4}-\d{4,}$/ });

export class CreatedIncidentDto {
  @Id('IncidentId')
  readonly id: string;

  @IncidentNumber()
  readonly incident_number: string;

  @Choice('IncidentStatus', INCIDENT_STATUSES)
  readonly status: IncidentStatus;

  @Instant()
  readonly created_at: Date;
}

/** Common fields of list items and single incidents. */
class IncidentHeadDto {
  @Id('IncidentId')
  readonly id: string;

  @IncidentNumber()
  readonly incident_number: string;

  @Text({ description: INCIDENT_TYPE_DESCRIPTION })
  readonly incident_type: string;

  @Choice('Severity', SEVERITIES)
  readonly severity: Severity;

  @Choice('IncidentStatus', INCIDENT_STATUSES)
  readonly status: IncidentStatus;

  @Text()
  readonly source: string;

  @Text({
    description:
      'One line that identifies the incident, given or derived from the type and raw_data.',
  })
  readonly title: string;

  @Instant()
  readonly created_at: Date;

  @Instant()
  readonly updated_at: Date;
}

const ResolvedAt = () =>
  Instant({
    optional: true,
    description: 'Time of the resolution; absent unless the incident is resolved.',
  });

const ResolvedBy = () =>
  Text({
    optional: true,
    description: 'Principal who resolved it; absent unless the incident is resolved.',
  });

const ToldStatus = () =>
  Choice('SourceStatus', SOURCE_STATUSES, {
    optional: true,
    description:
      'State of the alert in its tool: `resolved` after the tool reported the end of the alert, `open` if it reported the alert again. The status of the incident does not follow it.',
  });

export class IncidentSummaryDto extends IncidentHeadDto {
  @Choice('Classification', CLASSIFICATIONS, { optional: true })
  readonly classification?: Classification;

  @ToldStatus()
  readonly source_status?: SourceStatus;

  @ResolvedAt()
  readonly resolved_at?: Date;

  @ResolvedBy()
  readonly resolved_by?: string;
}

export class WithdrawnDto {
  @WholeNumber({ min: 0, description: 'Rejected actions that waited for approval.' })
  readonly actions: number;

  @WholeNumber({ min: 0, description: 'Cancelled playbook runs.' })
  readonly runs: number;
}

export class IncidentDto extends IncidentHeadDto {
  @JsonObject({ description: RAW_DATA_DESCRIPTION })
  readonly raw_data: Record<string, unknown>;

  @TextMap({ description: FIELDS_DESCRIPTION })
  readonly fields: IncidentFields;

  @Nested(() => VerdictDto, { optional: true, description: 'Present after triage.' })
  readonly verdict?: VerdictDto;

  @OpenChoices('ActionTypeName', ACTION_TYPES)
  readonly recommended_actions: readonly string[];

  @Text({
    optional: true,
    description: 'Removed when the status leaves `resolved`. The timeline keeps it.',
  })
  readonly resolution?: string;

  @Instant({ optional: true, description: 'Time of the last triage.' })
  readonly triaged_at?: Date;

  @ToldStatus()
  readonly source_status?: SourceStatus;

  @ResolvedAt()
  readonly resolved_at?: Date;

  @ResolvedBy()
  readonly resolved_by?: string;

  @WholeNumber({
    optional: true,
    min: 1,
    description:
      'Number of actions that still wait for approval, in the response to a change that closes the incident.',
  })
  readonly pending_actions?: number;

  @Nested(() => WithdrawnDto, {
    optional: true,
    description:
      'Present in the response to a change that closes the incident with `pending: withdraw`.',
  })
  readonly withdrawn?: WithdrawnDto;
}

const withoutRawData = present(OmitType(IncidentDto, ['raw_data']));

/** The incident as JSON in its envelope. raw_data is passed on as stored: that loses no digits and needs no parsing. */
export function incidentEnvelope(incident: Incident, settled: SettledPending = {}): string {
  return `{"data":${jsonWithRawData(withoutRawData({ ...incident, ...settled }), incident.raw_data)}}`;
}
