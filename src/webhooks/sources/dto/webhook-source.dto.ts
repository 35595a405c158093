import { AlwaysTrue, Instant, Text } from '../../../platform/validation/fields.js';
import type { Severity } from '../../../incidents/incident.js';
import type { Mapping } from '../../mapping/mapping.js';
import type { SeverityMapping, TypeMapping, WebhookSource } from '../webhook-source.js';
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
} from './source-fields.js';

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
