import type { IncidentFields } from '../../../incidents/incident-fields.js';
import { SEVERITIES, type Severity } from '../../../incidents/incident.js';
import {
  Choice,
  JsonObject,
  NestedList,
  Text,
  TextMap,
} from '../../../platform/validation/fields.js';
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

  @TextMap({ description: 'What the event says in well-known words.' })
  readonly fields: IncidentFields;

  @JsonObject({ description: 'The event exactly as it came.' })
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
  const { incidentType, severity, title, rawData, fields } = incident;
  const head: Omit<PreviewedIncidentDto, 'raw_data'> = {
    incident_type: incidentType,
    severity,
    unknown_severity: unknownSeverity,
    title,
    event_id: eventId,
    fields,
  };
  return `${JSON.stringify(head).slice(0, -1)},"raw_data":${rawData}}`;
}
