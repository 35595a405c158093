import { SEVERITIES, type Severity } from '../../../incidents/incident.js';
import { Choice, JsonObject, NestedList, Text } from '../../../platform/validation/fields.js';
import type { ReadEvent } from '../../reading/read-events.js';

/** An incident as an event would make it. */
export class PreviewedIncidentDto {
  @Text({ example: 'malware' })
  readonly incident_type: string;

  @Choice('Severity', SEVERITIES, { example: 'high' })
  readonly severity: Severity;

  @Text({
    optional: true,
    description: 'The word for the severity, when nobody knows what it means.',
    example: 'apocalyptic',
  })
  readonly unknown_severity?: string;

  @Text({ example: 'Malware: Emotet on WS-0042' })
  readonly title: string;

  @Text({
    optional: true,
    description: 'By what a repetition is known. Without it the content counts.',
    example: 'alert-4711',
  })
  readonly event_id?: string;

  @JsonObject({ description: 'The event, and the keys that were lifted.' })
  readonly raw_data: Record<string, unknown>;
}

export class WebhookPreviewDto {
  @NestedList(() => PreviewedIncidentDto, { description: 'One for each event of the body.' })
  readonly incidents: readonly PreviewedIncidentDto[];

  /** As JSON in its envelope: raw_data goes through as text, which loses no digit of its numbers. */
  static envelopeOf(this: void, events: readonly ReadEvent[]): string {
    return `{"data":{"incidents":[${events.map(incidentOf).join()}]}}`;
  }
}

function incidentOf({ incident, eventId, unknownSeverity }: ReadEvent): string {
  const { incidentType, severity, title, rawData } = incident;
  const head: Omit<PreviewedIncidentDto, 'raw_data'> = {
    incident_type: incidentType,
    severity,
    unknown_severity: unknownSeverity,
    title,
    event_id: eventId,
  };
  return `${JSON.stringify(head).slice(0, -1)},"raw_data":${rawData}}`;
}
