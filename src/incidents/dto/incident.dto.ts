import { applyDecorators } from '@nestjs/common';
import { ApiSchema, OmitType, PickType } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { ACTION_TYPES, type ActionTypeName } from '../../action-catalogue/action-types.js';
import { ValidationError } from '../../platform/errors/app-error.js';
import {
  Choice,
  Choices,
  Flag,
  Id,
  Instant,
  JsonObject,
  Nested,
  NotBlank,
  NullIsAbsent,
  OpenChoices,
  Text,
  TextMap,
  WholeNumber,
} from '../../platform/validation/fields.js';
import { present } from '../../platform/validation/present.js';
import {
  type Classification,
  CLASSIFICATIONS,
  CREATED_COLUMNS,
  type Incident,
  INCIDENT_STATUSES,
  INCIDENT_TYPE,
  type IncidentStatus,
  KNOWN_INCIDENT_TYPES,
  LISTED_COLUMNS,
  PENDING_CHOICES,
  type PendingChoice,
  SEVERITIES,
  type Severity,
  SOURCE_STATUSES,
  type SourceStatus,
} from '../incident.js';
import type { IncidentChange } from '../incident-changes.js';
import { INCIDENT_FIELDS, type IncidentFields } from '../incident-fields.js';
import {
  jsonWithRawData,
  MOST_RAW_DATA_BYTES,
  MOST_RAW_DATA_LEVELS,
  PHISHING_KEYS,
} from '../raw-data-rules.js';
import { LONGEST_TITLE, oneLine, SEEN } from '../raw-data-text.js';
import { GivenVerdictDto, VerdictDto } from './verdict.dto.js';

const INCIDENT_TYPE_DESCRIPTION = `An open set. Known: ${KNOWN_INCIDENT_TYPES.join(', ')}.`;

const RAW_DATA_DESCRIPTION = `The event as its source tells it: any JSON object of at most ${
  MOST_RAW_DATA_BYTES / 1024
} KiB and ${MOST_RAW_DATA_LEVELS} levels. For \`phishing\` the keys ${PHISHING_KEYS.map(
  (key) => `\`${key}\``,
).join(', ')} are strings when they are there, \`received_at\` an ISO 8601 time.`;

const FIELDS_DESCRIPTION = `Values of the event under the same names for every tool, each as one text. Playbooks, titles and triage read them. Well-known: ${Object.entries(
  INCIDENT_FIELDS,
)
  .map(([name, meaning]) => `\`${name}\` (${meaning})`)
  .join(
    ', ',
  )}. The mapping of a webhook source may add further names. For an incident that is created by the API, \`fields\` has the well-known keys of its \`raw_data\`.`;

class IncidentFieldsDto {
  @Id('IncidentId')
  readonly id: string;

  @Text({ pattern: /^INC-\d{4}-\d{4,}$/ })
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

  @Choice('Classification', CLASSIFICATIONS, { optional: true })
  readonly classification?: Classification;

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

  @Choice('SourceStatus', SOURCE_STATUSES, {
    optional: true,
    description:
      'State of the alert in its tool: `resolved` after the tool reported the end of the alert, `open` if it reported the alert again. The status of the incident does not follow it.',
  })
  readonly source_status?: SourceStatus;

  @Instant({
    optional: true,
    description: 'Time of the resolution; absent unless the incident is resolved.',
  })
  readonly resolved_at?: Date;

  @Text({
    optional: true,
    description: 'Principal who resolved it; absent unless the incident is resolved.',
  })
  readonly resolved_by?: string;
}

export class CreatedIncidentDto extends PickType(IncidentFieldsDto, CREATED_COLUMNS) {}

export class IncidentSummaryDto extends PickType(IncidentFieldsDto, LISTED_COLUMNS) {}

class WithdrawnDto {
  @WholeNumber({ min: 0, description: 'Rejected actions that waited for approval.' })
  readonly actions: number;

  @WholeNumber({ min: 0, description: 'Cancelled playbook runs.' })
  readonly runs: number;
}

export class IncidentDto extends OmitType(IncidentFieldsDto, ['classification']) {
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

/** Returns the incident as JSON in its envelope. Copies raw_data as stored, so that no digit is lost and no parsing is needed. */
export function incidentEnvelope(incident: Incident): string {
  return `{"data":${jsonWithRawData(withoutRawData(incident), incident.raw_data)}}`;
}

const LONGEST_SOURCE = 255;

const IncidentType = (options: { readonly optional?: boolean } = {}) =>
  Text({
    pattern: INCIDENT_TYPE,
    message:
      'incident_type must be 1 to 64 lower-case letters, digits and underscores, beginning with a letter',
    description: INCIDENT_TYPE_DESCRIPTION,
    ...options,
  });

const BLANK = 'title must not be blank';

/** `oneLine` removes invisible characters, which no pattern of the contract can express. */
const Title = (description: string) =>
  applyDecorators(
    Matches(SEEN, { message: BLANK }),
    NotBlank({
      optional: true,
      max: LONGEST_TITLE,
      message: BLANK,
      description: `${description} Stored as one line, without invisible characters and direction marks.`,
    }),
  );

export class IncidentInputDto {
  @IncidentType()
  readonly incident_type: string;

  @NotBlank({
    max: LONGEST_SOURCE,
    message: 'source must not be blank',
    description: 'Where the incident comes from: any text that is not blank.',
  })
  readonly source: string;

  @Choice('Severity', SEVERITIES, { optional: true, default: 'medium' })
  readonly severity: Severity = 'medium';

  @Title('Title. If absent, it is derived from the type and raw_data.')
  readonly title?: string;

  @JsonObject({ optional: true, default: {}, description: RAW_DATA_DESCRIPTION })
  readonly raw_data: Record<string, unknown> = {};
}

@ApiSchema({
  description:
    'At least one field is required. Absent and null fields do not change. If all values are stored already, nothing changes, not even the version.',
})
@NullIsAbsent()
export class IncidentUpdateDto {
  @Title('Title for people.')
  readonly title?: string;

  @Choice('Severity', SEVERITIES, { optional: true })
  readonly severity?: Severity;

  @Choice('IncidentStatus', INCIDENT_STATUSES, {
    optional: true,
    description:
      'Any status may follow any other. Leaving `resolved` requires `reopen` or If-Match. `triaged` is manual triage and sets triaged_at, unless it reopens a resolved incident.',
  })
  readonly status?: IncidentStatus;

  @Flag({
    optional: true,
    description:
      'Reopens a resolved incident. Without `status` it becomes triaged, or open if it was never triaged.',
  })
  readonly reopen?: boolean;

  @Text({
    optional: true,
    max: 10_000,
    description: 'Resolution, in words for people. A blank text removes it.',
  })
  readonly resolution?: string;

  @IncidentType({ optional: true })
  readonly incident_type?: string;

  @Nested(() => GivenVerdictDto, {
    optional: true,
    description:
      'Manual triage: sets triaged_at, makes an open incident triaged, and replaces the verdict. Evidence, indicators and techniques stay unless they are given. The verdict of the last run moves to `proposed`.',
  })
  readonly verdict?: GivenVerdictDto;

  @Choices('KnownActionType', ACTION_TYPES, { optional: true, maxItems: 100 })
  readonly recommended_actions?: ActionTypeName[];

  @Choice('PendingChoice', PENDING_CHOICES, {
    optional: true,
    description:
      'With `status: resolved`: `withdraw` rejects the waiting actions and cancels the waiting playbook runs of the incident, whatever approval level they need. `keep` (the default) does not change them.',
  })
  readonly pending?: PendingChoice;

  static toChange(this: void, body: IncidentUpdateDto): IncidentChange {
    if (Object.values(body).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    if (body.pending && body.status !== 'resolved') {
      const message = 'status must be resolved if pending is given.';
      throw new ValidationError([{ field: 'status', code: 'required', message }]);
    }
    const { title, resolution } = body;
    return {
      ...body,
      title: title && oneLine(title),
      resolution: resolution && (SEEN.test(resolution) ? resolution : ''),
    };
  }
}
