import { applyDecorators } from '@nestjs/common';
import { Matches } from 'class-validator';
import { ApiSchema } from '@nestjs/swagger';
import {
  Choice,
  JsonObject,
  NotBlank,
  Text,
  Choices,
  Flag,
  Nested,
  Instant,
} from '../../platform/validation/fields.js';
import {
  INCIDENT_TYPE,
  SEVERITIES,
  type Severity,
  INCIDENT_STATUSES,
  type IncidentStatus,
  type Classification,
  CLASSIFICATIONS,
  INCIDENT_NUMBER,
} from '../incident.js';
import { type WantedIncident, PENDING_CHOICES, type PendingChoice } from '../incidents.service.js';
import { LONGEST_TITLE, oneLine, SEEN } from '../raw-data-text.js';
import {
  INCIDENT_TYPE_DESCRIPTION,
  RAW_DATA_DESCRIPTION,
  GivenVerdictDto,
} from './incident.dto.js';
import { ValidationError } from '../../platform/errors/app-error.js';
import { NullIsAbsent } from '../../platform/validation/json-shield.js';
import { ACTION_TYPES, type ActionTypeName } from '../../action-catalogue/action-types.js';
import type { IncidentChange } from '../incident-changes.js';
import { type IncidentListRequest, SORT_FIELDS } from '../incident-list.js';
import { SortWords, PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { sortsOf, sortWords } from '../../platform/paging/page.js';
import { WordList, Words } from '../../platform/validation/query-fields.js';

export const LONGEST_SOURCE = 255;

export const IncidentType = (options: { readonly optional?: boolean } = {}) =>
  Text({
    pattern: INCIDENT_TYPE,
    message:
      'incident_type must be 1 to 64 lower-case letters, digits and underscores, beginning with a letter',
    description: INCIDENT_TYPE_DESCRIPTION,
    ...options,
  });

const BLANK = 'title must not be blank';

/** `shownTitle` removes invisible characters, which no pattern of the contract can express. */
export const Title = (description: string) =>
  applyDecorators(
    Matches(SEEN, { message: BLANK }),
    NotBlank({
      optional: true,
      max: LONGEST_TITLE,
      message: BLANK,
      description: `${description} Stored as one line, without invisible characters and direction marks.`,
    }),
  );

/** Removes invisible characters of a given title, because they could change how the text next to it looks. */
const shownTitle = (title: string | undefined): string | undefined =>
  title === undefined ? undefined : oneLine(title);

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

  static toWanted(this: void, body: IncidentInputDto): WantedIncident {
    return {
      incident_type: body.incident_type,
      source: body.source,
      severity: body.severity,
      title: shownTitle(body.title),
      raw_data: body.raw_data,
    };
  }
}

@ApiSchema({ description: 'At least one field is required. Absent and null fields do not change.' })
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
    const { title, severity, status, reopen, resolution } = body;
    const { incident_type, verdict, recommended_actions } = body;
    return {
      title: shownTitle(title),
      severity,
      status,
      reopen,
      resolution: resolution && (SEEN.test(resolution) ? resolution : ''),
      incident_type,
      verdict: verdict && { ...verdict },
      recommended_actions,
    };
  }
}

const SORTS = sortWords(...SORT_FIELDS);

/** Maximum length of a comma-separated list of sources. */
const LONGEST_SOURCES = 2_000;

export class IncidentQueryDto extends PageQueryDto {
  @Words('IncidentStatus', INCIDENT_STATUSES, { optional: true, example: ['open', 'triaged'] })
  readonly status?: readonly IncidentStatus[];

  @Words('Severity', SEVERITIES, { optional: true, example: ['high', 'critical'] })
  readonly severity?: readonly Severity[];

  @WordList(
    { word: /^[a-z][a-z0-9_]{0,63}$/, what: 'an incident type' },
    {
      optional: true,
      description: 'Incident type, or several types separated by commas.',
      example: ['phishing', 'bec'],
    },
  )
  readonly type?: readonly string[];

  @Text({
    optional: true,
    min: 1,
    max: LONGEST_SOURCES,
    description: 'Exact source, or several sources separated by commas.',
    example: 'email-gateway',
  })
  readonly source?: string;

  @Instant({
    optional: true,
    description:
      'Created after this time. An incident with exactly this created_at is not included.',
    example: '2026-01-01T00:00:00Z',
  })
  readonly created_after?: string;

  @Instant({
    optional: true,
    description: 'Created before this time.',
    example: '2027-01-01T00:00:00Z',
  })
  readonly created_before?: string;

  @WordList(
    { word: INCIDENT_NUMBER, what: 'the number of an incident, such as INC-2026-0042' },
    {
      optional: true,
      description: 'Incident number, or several numbers separated by commas.',
      example: ['INC-2026-0042'],
    },
  )
  readonly number?: readonly string[];

  @Words('Classification', CLASSIFICATIONS, {
    optional: true,
    description: 'Classification of the current verdict, or several separated by commas.',
    example: ['malicious', 'suspicious'],
  })
  readonly classification?: readonly Classification[];

  @Instant({
    optional: true,
    description: 'Changed or created after this time.',
    example: '2026-01-31T09:30:00Z',
  })
  readonly updated_after?: string;

  @Instant({
    optional: true,
    description: 'Resolved after this time, and not reopened since.',
    example: '2026-01-31T00:00:00Z',
  })
  readonly resolved_after?: string;

  @Instant({
    optional: true,
    description: 'Resolved before this time, and not reopened since.',
    example: '2026-02-01T00:00:00Z',
  })
  readonly resolved_before?: string;

  @SortWords('IncidentSort', SORTS, {
    description:
      'severity sorts by rank, status alphabetically. Incidents without triaged_at or resolved_at come last in both directions.',
    example: ['-severity', 'created_at'],
  })
  readonly sort: readonly (typeof SORTS)[number][] = ['-created_at'];

  static toRequest(this: void, query: IncidentQueryDto): IncidentListRequest {
    const { source } = query;
    return {
      ...query,
      source: source === undefined ? undefined : sourcesIn(source),
      sort: sortsOf(query.sort),
    };
  }
}

/** The name of a source may contain a comma. */
function sourcesIn(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  return [...new Set([text, ...parts.filter((part) => part !== '')])];
}
