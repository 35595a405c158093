import {
  AlwaysTrue,
  Choice,
  Instant,
  JsonObject,
  NestedList,
  Text,
  TextMap,
  Texts,
} from '../../../platform/validation/fields.js';
import { SEVERITIES, type Severity } from '../../../incidents/incident.js';
import type { Mapping, SeverityMapping, TypeMapping } from '../webhook-source.entity.js';
import {
  AutoTriage,
  Enabled,
  EventMapping,
  Format,
  MinSeverity,
  PlaybookName,
  PresetName,
  SeverityWords,
  Signature,
  SourceName,
  TypeFixed,
  TypeWords,
  UsualType,
} from './source-requests.dto.js';
import type { IncidentFields } from '../../../incidents/incident-fields.js';
import { jsonWithRawData } from '../../../incidents/raw-data-rules.js';
import { type ReadEvent, incidentOf } from '../../reading/read-events.js';

export class WebhookSourceDto {
  @SourceName()
  readonly source: string;

  @Enabled()
  readonly enabled: boolean;

  @Signature()
  readonly signature: string;

  @Format()
  readonly format: string;

  @PresetName({ optional: true, description: 'Preset that the mapping came from.' })
  readonly preset?: string;

  @EventMapping({ optional: true })
  readonly mapping?: Mapping;

  @UsualType({ optional: true })
  readonly incident_type?: string;

  @SeverityWords()
  readonly severity_mapping: SeverityMapping;

  @TypeWords()
  readonly type_mapping: TypeMapping;

  @TypeFixed()
  readonly incident_type_fixed: boolean;

  @MinSeverity()
  readonly min_severity: Severity;

  @AutoTriage()
  readonly auto_triage: boolean;

  @PlaybookName({ optional: true })
  readonly playbook?: string;

  @Instant({
    optional: true,
    description: 'End of the validity of the previous secret.',
    example: '2026-11-03T09:30:00.000Z',
  })
  readonly previous_secret_until?: Date;

  @Text({ description: 'Principal that registered it.', example: 'admin' })
  readonly created_by: string;

  @Instant({ example: '2026-11-02T09:00:00.000Z' })
  readonly created_at: Date;

  @Instant({ example: '2026-11-02T09:30:00.000Z' })
  readonly updated_at: Date;
}

export class DeletedWebhookSourceDto {
  @Text({ description: 'Name of the source.', example: 'mail-gateway' })
  readonly id: string;

  @AlwaysTrue()
  readonly deleted: true;
}

export class WebhookPresetDto {
  @PresetName()
  readonly name: string;

  @Text({ example: 'Prometheus Alertmanager' })
  readonly title: string;

  @Text({
    description: 'Tools that send these events, and their documentation.',
    example: 'https://prometheus.io/docs/alerting/latest/configuration/#webhook_config',
  })
  readonly documentation: string;

  @Texts({
    description: 'Steps at the sender. `{url}` is the address of the source.',
    example: ['Add a receiver whose webhook_configs has the url {url}.'],
  })
  readonly set_up: readonly string[];

  @Signature({ example: 'token' })
  readonly signature: string;

  @EventMapping()
  readonly mapping: Mapping;

  @UsualType({ optional: true })
  readonly incident_type?: string;

  @SeverityWords({ optional: true })
  readonly severity_mapping?: SeverityMapping;

  @TypeWords({ optional: true })
  readonly type_mapping?: TypeMapping;
}

class PreviewedIncidentDto {
  @Text({ example: 'malware' })
  readonly incident_type: string;

  @Choice('Severity', SEVERITIES, { example: 'high' })
  readonly severity: Severity;

  @Text({
    optional: true,
    description: 'Word for the severity, if its meaning is unknown.',
    example: 'apocalyptic',
  })
  readonly unknown_severity?: string;

  @Text({ example: 'Malware: Emotet on WS-0042' })
  readonly title: string;

  @Text({
    optional: true,
    description: 'Identifies repetitions. Without it, equal content does.',
    example: 'alert-4711',
  })
  readonly event_id?: string;

  @TextMap({ description: 'Well-known fields of the event.' })
  readonly fields: IncidentFields;

  @JsonObject({ description: 'The event exactly as received.' })
  readonly raw_data: Record<string, unknown>;
}

export class WebhookPreviewDto {
  @NestedList(() => PreviewedIncidentDto, {
    description: 'One incident for each event of the body.',
  })
  readonly incidents: readonly PreviewedIncidentDto[];

  /** Returns the response as JSON, because raw_data is text that keeps all digits of its numbers. */
  static envelopeOf(this: void, events: readonly ReadEvent[]): string {
    return `{"data":{"incidents":[${events.map(previewOf).join()}]}}`;
  }
}

function previewOf(event: ReadEvent): string {
  const { eventId, unknownSeverity } = event;
  const { incident_type, severity, title, raw_data, fields } = incidentOf(event);
  const shown: Omit<PreviewedIncidentDto, 'raw_data'> = {
    incident_type,
    severity,
    unknown_severity: unknownSeverity,
    title,
    event_id: eventId,
    fields,
  };
  return jsonWithRawData(shown, raw_data);
}
