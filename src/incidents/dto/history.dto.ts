import type { Page, PageRequest } from '../../platform/paging/page.js';
import {
  Choice,
  Instant,
  JsonObject,
  Nested,
  NestedList,
  Text,
  Id,
  OpenChoices,
} from '../../platform/validation/fields.js';
import { jsonWithRawData } from '../raw-data-rules.js';
import { present } from '../../platform/validation/present.js';
import {
  INCIDENT_FEED_EVENTS,
  type ListedIncident,
  SEVERITIES,
  type Severity,
} from '../incident.js';
import type { IncidentReportEntity } from '../reports/incident-reports.js';
import { IncidentSummaryDto } from './incident.dto.js';
import type { FeedPage } from '../../audit/changes/change-feed.js';
import { ChangeOf, ChangesPageDto } from '../../audit/changes/feed-api.js';
import { CHANGED_FIELDS } from '../incident-changes.js';

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
