import { applyDecorators } from '@nestjs/common';
import { ApiSchema, OmitType, PickType } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { ACTION_TYPES, type ActionTypeName } from '../../action-catalogue/action-types.js';
import type { FeedPage } from '../../audit/changes/change-feed.js';
import { ChangeOf, ChangesPageDto } from '../../audit/changes/feed-api.js';
import { ValidationError } from '../../platform/errors/app-error.js';
import {
  Choice,
  Choices,
  Flag,
  Id,
  JsonObject,
  Nested,
  NestedList,
  NotBlank,
  NullIsAbsent,
  OpenChoices,
  Text,
  WholeNumber,
} from '../../platform/validation/fields.js';
import { present } from '../../platform/validation/present.js';
import {
  CREATED_COLUMNS,
  DESCRIPTIONS,
  HIDDEN_COLUMNS,
  type Incident,
  INCIDENT_FEED_EVENTS,
  INCIDENT_STATUSES,
  INCIDENT_TYPE,
  IncidentEntity,
  type IncidentStatus,
  LISTED_COLUMNS,
  type ListedIncident,
  PENDING_CHOICES,
  type PendingChoice,
  SEVERITIES,
  type Severity,
} from '../incident.js';
import { CHANGED_FIELDS, type IncidentChange } from '../incident-changes.js';
import { jsonWithRawData } from '../raw-data-rules.js';
import { LONGEST_TITLE, oneLine, SEEN } from '../raw-data-text.js';
import { GivenVerdictDto } from './verdict.dto.js';

export class CreatedIncidentDto extends PickType(IncidentEntity, CREATED_COLUMNS) {}

export class IncidentSummaryDto extends PickType(IncidentEntity, LISTED_COLUMNS) {}

class WithdrawnDto {
  @WholeNumber({ min: 0, description: 'Rejected actions that waited for approval.' })
  readonly actions: number;

  @WholeNumber({ min: 0, description: 'Cancelled playbook runs.' })
  readonly runs: number;
}

export class IncidentDto extends OmitType(IncidentEntity, [
  ...HIDDEN_COLUMNS,
  'verdict_by_person',
  'version',
]) {
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

/** Copies the stored text of raw_data, so that numbers keep all digits and nothing is parsed. */
export function incidentEnvelope(incident: Incident): string {
  return `{"data":${jsonWithRawData(withoutRawData(incident), incident.raw_data)}}`;
}

class IncidentChangeDto extends ChangeOf('Incident', INCIDENT_FEED_EVENTS) {
  @Id('IncidentId')
  readonly incident_id: string;

  @OpenChoices('ChangedField', CHANGED_FIELDS, {
    optional: true,
    description:
      'For `incident.updated`: the fields that changed. Empty if only a further report that says more was added.',
  })
  readonly changed?: readonly string[];

  @Nested(() => IncidentSummaryDto, {
    optional: true,
    description:
      'Current state of the incident, which may be later than the change. Absent if the incident was deleted.',
  })
  readonly incident?: IncidentSummaryDto;
}

export class IncidentChangesDto extends ChangesPageDto {
  @NestedList(() => IncidentChangeDto, { description: 'At most `limit`; may be empty.' })
  readonly changes: readonly IncidentChangeDto[];
}

const presentPage = present(IncidentChangesDto);

export const presentChanges = ({
  changes,
  ...page
}: FeedPage<ListedIncident>): IncidentChangesDto =>
  presentPage({
    ...page,
    changes: changes.map(({ item: incident, subject_id: incident_id, ...change }) => {
      return { ...change, incident_id, incident };
    }),
  });

const LONGEST_SOURCE = 255;

const IncidentType = (options: { readonly optional?: boolean } = {}) =>
  Text({
    pattern: INCIDENT_TYPE,
    message:
      'incident_type must be 1 to 64 lower-case letters, digits and underscores, beginning with a letter',
    description: DESCRIPTIONS.incident_type,
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

  @JsonObject({ optional: true, default: {}, description: DESCRIPTIONS.raw_data })
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
