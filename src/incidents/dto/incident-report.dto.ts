import type { Page } from '../../platform/paging/page.js';
import { PageQueryDto } from '../../platform/paging/page-query.dto.js';
import { Choice, Id, Instant, JsonObject, Text } from '../../platform/validation/fields.js';
import { SEVERITIES, type Severity } from '../incident.js';
import type { IncidentReport } from '../reports/incident-reports.js';
import { RAW_DATA_EXAMPLE } from './raw-data.js';

export class IncidentReportQueryDto extends PageQueryDto {}

/** A later event about an incident, with other content than the events before it. */
export class IncidentReportDto {
  @Id('IncidentReportId')
  readonly id: string;

  @Instant({ description: 'Time when the event was stored.', example: '2026-01-31T09:52:00.000Z' })
  readonly at: string;

  @Text({ example: 'email-gateway' })
  readonly source: string;

  @Choice('Severity', SEVERITIES, {
    description: 'Severity of this event. The incident keeps the highest one.',
    example: 'critical',
  })
  readonly severity: Severity;

  @Id('WebhookEventId', { description: 'The receipt that brought it, with the bytes sent.' })
  readonly webhook_event_id: string;

  @JsonObject({ description: 'The event exactly as it came.', example: RAW_DATA_EXAMPLE })
  readonly raw_data: Record<string, unknown>;

  /** The list as JSON text: raw_data goes through as the database has it, so that no digit is lost. */
  static listOf(
    this: void,
    { items, total }: Page<IncidentReport>,
    { page, per_page }: IncidentReportQueryDto,
  ): string {
    const data = items.map(({ id, at, source, severity, webhook_event_id, raw_data }) => {
      const head = JSON.stringify({ id, at: at.toISOString(), source, severity, webhook_event_id });
      return `${head.slice(0, -1)},"raw_data":${raw_data}}`;
    });
    return `{"data":[${data.join(',')}],"meta":${JSON.stringify({ page, per_page, total })}}`;
  }
}
