import { Text, Texts } from '../../../platform/validation/fields.js';
import type { Mapping } from '../../mapping/mapping.js';
import type { Preset } from '../../mapping/preset.js';
import type { SeverityMapping, TypeMapping } from '../webhook-source.js';
import {
  EventMapping,
  PresetName,
  SeverityWords,
  Signature,
  TypeWords,
  UsualType,
} from './source-fields.js';

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
