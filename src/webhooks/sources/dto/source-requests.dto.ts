import { NotEquals } from 'class-validator';
import { PageQueryDto } from '../../../platform/paging/page-query.dto.js';
import { SortWords } from '../../../platform/paging/sort-query.js';
import { Flag } from '../../../platform/validation/fields.js';
import type { Severity } from '../../../incidents/incident.js';
import type { Mapping } from '../../mapping/mapping.js';
import { DEFAULT_SETTINGS } from '../source-rules.js';
import type {
  EventFormatName,
  SeverityMapping,
  SignatureScheme,
  TypeMapping,
} from '../webhook-source.js';
import { WEBHOOK_SOURCE_SORTS, type WebhookSourceSort } from '../webhook-sources.repository.js';
import {
  AutoTriage,
  Enabled,
  EventMapping,
  ChosenFormat,
  MAPPING_DESCRIPTION,
  MinSeverity,
  PlaybookName,
  ChosenPreset,
  Secret,
  SECRET_DESCRIPTION,
  SeverityWords,
  ChosenSignature,
  SourceName,
  TypeFixed,
  TypeWords,
  UsualType,
} from './source-fields.js';

/** An address of ours, which a source of that name would hide. */
const RESERVED_NAME = 'presets';

const FILLS_IN =
  'fills in mapping, severity_mapping, type_mapping, incident_type, signature and format';

export class NewWebhookSourceDto {
  @SourceName()
  @NotEquals(RESERVED_NAME, { message: `source must not be ${RESERVED_NAME}` })
  readonly source: string;

  @Secret({ description: SECRET_DESCRIPTION })
  readonly secret: string;

  @Enabled({ optional: true, default: DEFAULT_SETTINGS.enabled })
  readonly enabled?: boolean;

  @ChosenSignature({ optional: true, default: DEFAULT_SETTINGS.signature })
  readonly signature?: SignatureScheme;

  @ChosenFormat({ optional: true, default: DEFAULT_SETTINGS.format })
  readonly format?: EventFormatName;

  @ChosenPreset({
    optional: true,
    description: `One of those that GET /api/webhooks/presets lists: it ${FILLS_IN} where the request leaves them out.`,
  })
  readonly preset?: string;

  @EventMapping({ optional: true, description: MAPPING_DESCRIPTION })
  readonly mapping?: Mapping;

  @UsualType({ optional: true })
  readonly incident_type?: string;

  @SeverityWords({ optional: true, default: DEFAULT_SETTINGS.severity_mapping })
  readonly severity_mapping?: SeverityMapping;

  @TypeWords({ optional: true, default: DEFAULT_SETTINGS.type_mapping })
  readonly type_mapping?: TypeMapping;

  @TypeFixed({ optional: true, default: DEFAULT_SETTINGS.incident_type_fixed })
  readonly incident_type_fixed?: boolean;

  @MinSeverity({ optional: true, default: DEFAULT_SETTINGS.min_severity })
  readonly min_severity?: Severity;

  @AutoTriage({ optional: true, default: DEFAULT_SETTINGS.auto_triage })
  readonly auto_triage?: boolean;

  @PlaybookName({ optional: true })
  readonly playbook?: string;
}

export class WebhookSourceUpdateDto {
  @Secret({
    optional: true,
    description:
      'The one before stays valid for 24 h, unless revoke_old_secret is true; of three the newest two are valid. The ' +
      'same again changes nothing.',
  })
  readonly secret?: string;

  @Flag({
    optional: true,
    description: 'Ends the secret before the new one, or the one before the present one, at once.',
    example: false,
  })
  readonly revoke_old_secret?: boolean;

  @Enabled({ optional: true })
  readonly enabled?: boolean;

  @ChosenSignature({ optional: true })
  readonly signature?: SignatureScheme;

  @ChosenFormat({
    optional: true,
    description: 'Any but `mapping` takes a mapping and the name of its preset away.',
  })
  readonly format?: EventFormatName;

  @ChosenPreset({
    optional: true,
    description: `It ${FILLS_IN} as in a new source, where the request leaves them out.`,
  })
  readonly preset?: string;

  @EventMapping({
    optional: true,
    description:
      'The whole mapping, in place of the one before; format becomes `mapping`. The source no longer shows a preset unless the request names it.',
  })
  readonly mapping?: Mapping;

  @UsualType({ clearable: true })
  readonly incident_type?: string;

  @SeverityWords({ optional: true, description: 'All words, in place of those before.' })
  readonly severity_mapping?: SeverityMapping;

  @TypeWords({ optional: true, description: 'All words, in place of those before.' })
  readonly type_mapping?: TypeMapping;

  @TypeFixed({ optional: true })
  readonly incident_type_fixed?: boolean;

  @MinSeverity({ optional: true })
  readonly min_severity?: Severity;

  @AutoTriage({ optional: true })
  readonly auto_triage?: boolean;

  @PlaybookName({ clearable: true })
  readonly playbook?: string;
}

export class WebhookSourceQueryDto extends PageQueryDto {
  @SortWords('WebhookSourceSort', WEBHOOK_SOURCE_SORTS)
  readonly sort: readonly WebhookSourceSort[] = ['-created_at'];
}
