import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import type { FeedPage } from '../../audit/changes/change-feed.js';
import { ChangeOf, ChangesPageDto } from '../../audit/changes/feed-api.js';
import {
  type Page,
  type PageRequest,
  sortWords,
  PageQueryDto,
} from '../../platform/paging/page.js';
import {
  Choice,
  Field,
  Id,
  Instant,
  JsonObject,
  Nested,
  NestedList,
  OpenChoice,
  OpenChoices,
  Text,
} from '../../platform/validation/fields.js';
import { present } from '../../platform/validation/present.js';
import {
  INCIDENT_FEED_EVENTS,
  type ListedIncident,
  SEVERITIES,
  type Severity,
} from '../incident.js';
import { CHANGED_FIELDS } from '../incident-changes.js';
import { jsonWithRawData } from '../raw-data-rules.js';
import type { IncidentReportEntity } from '../reports/incident-reports.js';
import { IncidentSummaryDto } from './incident.dto.js';

export class IncidentReportDto {
  @Id('IncidentReportId')
  readonly id: string;

  @Instant({ description: 'Time when the event was stored.' })
  readonly at: string;

  @Text()
  readonly source: string;

  @Choice('Severity', SEVERITIES, {
    description: 'Severity of this event. The incident keeps the highest one.',
  })
  readonly severity: Severity;

  @Id('WebhookEventId', {
    description: 'Webhook event that brought the report, with the original bytes.',
  })
  readonly webhook_event_id: string;

  @JsonObject({ description: 'The event exactly as received.' })
  readonly raw_data: Record<string, unknown>;

  /** Returns the list as JSON text. Copies raw_data as stored, so that no digit is lost. */
  static listOf(
    this: void,
    { items, total }: Page<IncidentReportEntity>,
    { page, per_page }: PageRequest,
  ): string {
    const data = items.map(({ id, at, source, severity, webhook_event_id, raw_data }) =>
      jsonWithRawData({ id, at, source, severity, webhook_event_id }, raw_data),
    );
    return `{"data":[${data.join(',')}],"meta":${JSON.stringify({ page, per_page, total })}}`;
  }
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

const SORTS = sortWords('at', 'created_at');

export class TimelineQueryDto extends PageQueryDto {
  @Choice('TimelineSort', SORTS, {
    optional: true,
    default: 'at',
    description: '`created_at` is the same as `at`.',
  })
  readonly sort: (typeof SORTS)[number] = 'at';
}

export class TimelineSubjectDto {
  @Text()
  readonly type: string;

  @Text()
  readonly id: string;
}

const AnyValue = (description: string) =>
  Field({ optional: true, description }, { allOf: [{ $ref: '#/components/schemas/AnyJson' }] });

class TimelineChangeDto {
  @Text({ description: 'Name of the field.' })
  readonly field: string;

  @AnyValue('Previous value; absent if there was none.')
  readonly from?: unknown;

  @AnyValue('New value; absent if it was removed.')
  readonly to?: unknown;
}

export class TimelineDetailsDto {
  @OpenChoice('ActionTypeName', ACTION_TYPES, { optional: true })
  readonly action_type?: string;

  @Text({
    optional: true,
    description: 'Target of the action: its first parameter, cut if it is long.',
  })
  readonly target?: string;

  @JsonObject({ optional: true, description: 'Parameters of a requested action.' })
  readonly parameters?: Readonly<Record<string, unknown>>;

  @Text({ optional: true, description: 'Action that this action rolls back.' })
  readonly rollback_of?: string;

  @Text({ optional: true, description: 'Reason of a request, rollback or rejection.' })
  readonly reason?: string;

  @Text({ optional: true, description: 'Comment of the approver.' })
  readonly comment?: string;

  @Text({ optional: true, description: 'Resolution, also if the incident was reopened.' })
  readonly resolution?: string;

  @NestedList(() => TimelineChangeDto, { optional: true, description: 'Fields that changed.' })
  readonly changes?: readonly TimelineChangeDto[];
}

export class TimelineEntryDto {
  @Instant()
  readonly at: Date;

  @Text({
    description:
      'An open set: created, updated, triaged, resolved, reopened, severity_lowered (of a critical incident), event_updated, update_of_resolved and update_of_judged (further reports of the tool), source_resolved, severity_unknown, triage_requested (asynchronously), triage_completed, triage_failed, and events of its actions.',
  })
  readonly event: string;

  @Text({ description: 'Name of a principal.' })
  readonly actor: string;

  @Text()
  readonly summary: string;

  @Nested(() => TimelineSubjectDto, { optional: true })
  readonly subject?: TimelineSubjectDto;

  @Nested(() => TimelineDetailsDto, {
    optional: true,
    description: 'Facts of the entry for programs, with full texts. Absent if there are none.',
  })
  readonly details?: TimelineDetailsDto;
}
