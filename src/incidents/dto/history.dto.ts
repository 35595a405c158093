import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { sortWords, type Page } from '../../platform/paging/page.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import {
  Choice,
  Field,
  Instant,
  JsonObject,
  Nested,
  NestedList,
  OpenChoice,
  Text,
  Id,
  Flag,
  OpenChoices,
} from '../../platform/validation/fields.js';
import type {
  TimelineDetails,
  TimelineEntry,
  TimelineRequest,
} from '../timeline/timeline-entry.js';
import { jsonWithRawData } from '../raw-data-rules.js';
import { present } from '../../platform/validation/present.js';
import { SEVERITIES, type Severity, type ListedIncident } from '../incident.js';
import type { IncidentReport } from '../reports/incident-reports.js';
import { IncidentSummaryDto } from './incident.dto.js';
import type { FeedEntry, FeedPage } from '../../audit/changes/change-feed.js';
import { CHANGED_FIELDS } from '../incident-changes.js';
import { INCIDENT_FEED_EVENTS } from '../incidents.service.js';

const SORTS = sortWords('at', 'created_at');

export class TimelineQueryDto extends PageQueryDto {
  @Choice('TimelineSort', SORTS, {
    optional: true,
    default: 'at',
    description: '`created_at` is the same as `at`.',
  })
  readonly sort: (typeof SORTS)[number] = 'at';

  static toRequest(this: void, { page, per_page, sort }: TimelineQueryDto): TimelineRequest {
    return { page, per_page, newestFirst: sort.startsWith('-') };
  }
}

export class TimelineSubjectDto {
  @Text()
  readonly type: string;

  @Text()
  readonly id: string;
}

const AnyValue = (description: string) =>
  Field({ optional: true, description }, { allOf: [{ $ref: '#/components/schemas/AnyJson' }] });

export class TimelineChangeDto {
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

  static from(this: void, details: TimelineDetails): TimelineDetailsDto {
    const { action_type, target, parameters, rollback_of, reason, comment } = details;
    const { resolution, changes } = details;
    return {
      ...{ action_type, target, parameters, rollback_of, reason, comment, resolution },
      changes: changes?.map(({ field, from, to }) => ({ field, from, to })),
    };
  }
}

export class TimelineEntryDto {
  @Instant()
  readonly at: string;

  @Text({
    description:
      'An open set: created, updated, triaged, resolved, severity_lowered (of a critical incident), triage_requested (asynchronously), triage_completed, triage_failed, and events of its actions.',
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

  static from(this: void, entry: TimelineEntry): TimelineEntryDto {
    const { at, event, actor, summary, subject, details } = entry;
    return {
      ...{ at: at.toISOString(), event, actor, summary, subject },
      details: details && TimelineDetailsDto.from(details),
    };
  }
}

export class IncidentReportQueryDto extends PageQueryDto {}

/** A later event about an incident, with different content. */
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

  /** List as JSON text. raw_data is passed on as stored, so that no digit is lost. */
  static listOf(
    this: void,
    { items, total }: Page<IncidentReport>,
    { page, per_page }: IncidentReportQueryDto,
  ): string {
    const data = items.map(({ id, at, source, severity, webhook_event_id, raw_data }) =>
      jsonWithRawData({ id, at, source, severity, webhook_event_id }, raw_data),
    );
    return `{"data":[${data.join(',')}],"meta":${JSON.stringify({ page, per_page, total })}}`;
  }
}

const LISTED = 'incident.listed';

export class IncidentChangeDto {
  @OpenChoice('IncidentChangeEvent', [LISTED, ...INCIDENT_FEED_EVENTS], {
    description:
      'What happened. `incident.listed`: nothing, the incident existed when the feed began.',
  })
  readonly event: string;

  @Id('IncidentChangeId', {
    optional: true,
    description:
      'Id of the change, also of its entry in the audit trail. Absent for `incident.listed`.',
  })
  readonly change_id?: string;

  @Id('IncidentId')
  readonly incident_id: string;

  @Instant({
    description:
      'Time of the change; for `incident.listed`, of the last change. Changes are in the order in which they became visible, which is not exactly the order of their times.',
  })
  readonly at: Date;

  @Text({
    optional: true,
    description: 'Principal that made the change. Absent for `incident.listed`.',
  })
  readonly by?: string;

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

  static from(this: void, { change, item }: FeedEntry<ListedIncident>): IncidentChangeDto {
    const incident = item && present(IncidentSummaryDto)(item);
    if (!change) {
      const { id, updated_at } = incident!;
      return { event: LISTED, incident_id: id, at: updated_at, incident };
    }
    return {
      event: change.action,
      change_id: change.id,
      incident_id: change.subjectId,
      at: change.at,
      by: change.actor,
      changed: change.changed,
      incident,
    };
  }
}

export class IncidentChangesDto {
  @NestedList(() => IncidentChangeDto, { description: 'At most `limit`; may be empty.' })
  readonly changes: readonly IncidentChangeDto[];

  @Text({
    description: 'Position after these changes, for the next request. Present in each answer.',
  })
  readonly cursor: string;

  @Flag({ description: 'More changes may be available: send the next request without a wait.' })
  readonly has_more: boolean;

  static from(this: void, page: FeedPage<ListedIncident>): IncidentChangesDto {
    const { entries, cursor, hasMore } = page;
    return { changes: entries.map(IncidentChangeDto.from), cursor, has_more: hasMore };
  }
}
