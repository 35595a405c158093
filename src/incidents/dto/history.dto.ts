import type { Page, PageRequest } from '../../platform/paging/page.js';
import {
  Choice,
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
import { jsonWithRawData } from '../raw-data-rules.js';
import { present } from '../../platform/validation/present.js';
import { SEVERITIES, type Severity, type ListedIncident } from '../incident.js';
import type { IncidentReportEntity } from '../reports/incident-reports.js';
import { IncidentSummaryDto } from './incident.dto.js';
import type { FeedEntry, FeedPage } from '../../audit/changes/change-feed.js';
import { CHANGED_FIELDS } from '../incident-changes.js';
import { INCIDENT_FEED_EVENTS } from '../incidents.service.js';

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
    { items, total }: Page<IncidentReportEntity>,
    { page, per_page }: PageRequest,
  ): string {
    const data = items.map(({ id, at, source, severity, webhook_event_id, raw_data }) =>
      jsonWithRawData({ id, at, source, severity, webhook_event_id }, raw_data),
    );
    return `{"data":[${data.join(',')}],"meta":${JSON.stringify({ page, per_page, total })}}`;
  }
}

const LISTED = 'incident.listed';

class IncidentChangeDto {
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
    description: 'Position after these changes, for the next request. Present in each response.',
  })
  readonly cursor: string;

  @Flag({ description: 'More changes may be available: send the next request without a wait.' })
  readonly has_more: boolean;

  static from(this: void, page: FeedPage<ListedIncident>): IncidentChangesDto {
    const { entries, cursor, hasMore } = page;
    return { changes: entries.map(IncidentChangeDto.from), cursor, has_more: hasMore };
  }
}
