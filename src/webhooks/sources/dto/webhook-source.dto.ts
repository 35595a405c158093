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
import type { Mapping } from '../../mapping/mapping.js';
import type { Preset, SeverityMapping, TypeMapping, WebhookSource } from '../webhook-source.js';
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

  @PresetName({ optional: true, description: 'That the mapping came from.' })
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
    description: 'Until when the secret before the present one is valid, too.',
    example: '2026-11-03T09:30:00.000Z',
  })
  readonly previous_secret_until?: string;

  @Text({ description: 'The principal that registered it.', example: 'admin' })
  readonly created_by: string;

  @Instant({ example: '2026-11-02T09:00:00.000Z' })
  readonly created_at: string;

  @Instant({ example: '2026-11-02T09:30:00.000Z' })
  readonly updated_at: string;

  static from(this: void, source: WebhookSource): WebhookSourceDto {
    return {
      source: source.source,
      enabled: source.enabled,
      signature: source.signature,
      format: source.format,
      preset: source.preset,
      mapping: source.mapping,
      incident_type: source.incidentType,
      severity_mapping: source.severityMapping,
      type_mapping: source.typeMapping,
      incident_type_fixed: source.incidentTypeFixed ?? false,
      min_severity: source.minSeverity ?? 'low',
      auto_triage: source.autoTriage,
      playbook: source.playbook,
      previous_secret_until: source.previousSecretUntil?.toISOString(),
      created_by: source.createdBy,
      created_at: source.createdAt.toISOString(),
      updated_at: source.updatedAt.toISOString(),
    };
  }
}

export class DeletedWebhookSourceDto {
  @Text({ description: 'The name of the source.', example: 'mail-gateway' })
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
    description: 'Whose events these are, and where their shape is documented.',
    example: 'https://prometheus.io/docs/alerting/latest/configuration/#webhook_config',
  })
  readonly documentation: string;

  @Texts({
    description: 'What to set at the sender; `{url}` stands for the address of the source.',
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

  static from(this: void, preset: Preset): WebhookPresetDto {
    return {
      name: preset.name,
      title: preset.title,
      documentation: preset.documentation,
      set_up: preset.setUp,
      signature: preset.signature,
      mapping: preset.mapping,
      incident_type: preset.incidentType,
      severity_mapping: preset.severityMapping,
      type_mapping: preset.typeMapping,
    };
  }
}

/** An incident as an event would make it. */
class PreviewedIncidentDto {
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
