import type { Type } from '@nestjs/common';
import { IntersectionType, PickType } from '@nestjs/swagger';
import {
  INCIDENT_TYPE,
  IncidentEntity,
  KNOWN_INCIDENT_TYPES,
  SEVERITIES,
} from '../../incidents/incident.js';
import { jsonWithRawData } from '../../incidents/raw-data-rules.js';
import { PageQueryDto, sortWords, SortWords } from '../../platform/paging/page.js';
import {
  AlwaysTrue,
  Choice,
  type FieldOptions,
  Flag,
  JsonObject,
  NestedList,
  NullIsAbsent,
  OpenChoice,
  Text,
  Texts,
} from '../../platform/validation/fields.js';
import { PRESETS } from '../reading/formats.js';
import type { ReadEvent } from '../reading/read-events.js';
import {
  DEFAULT_SETTINGS,
  MAPPING_CONTRACT,
  SECRET,
  type SettingsChange,
  type SourceSettings,
} from './source-rules.js';
import {
  EVENT_FORMATS,
  type Mapping,
  SIGNATURE_SCHEMES,
  WebhookSourceEntity,
} from './webhook-source.entity.js';

const Secret = (options: FieldOptions) =>
  Text({
    ...options,
    min: 16,
    max: 512,
    pattern: SECRET,
    message: 'secret must not begin or end with white space, which senders trim',
    // The syntax of this pattern differs between languages.
    contract: { pattern: undefined, format: 'password' },
    example: 'v7Zq-1mC4tXs9bLw2RkE8yHd',
  });

/** `event_id` also contains the start time, because an alert that fires again has the same fingerprint. */
const MAPPING_EXAMPLE = {
  items: '/alerts',
  title: ['/annotations/summary', '/labels/alertname'],
  severity: '/labels/severity',
  event_id: [['/fingerprint', '/startsAt']],
  lift: { host: '/labels/instance' },
} satisfies Mapping;

const PRESET_NAMES = PRESETS.map(({ name }) => name);
const PLAYBOOK = /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u;
const CLEARED = 'An empty text in a change removes it.';
const REPLACED = 'A change replaces all words.';

const ABOUT: Readonly<Record<keyof SourceSettings, string>> = {
  enabled: 'Events of a disabled source get 404.',
  signature:
    '`timestamped`: HMAC-SHA256 of time and body. `body`: HMAC-SHA256 of the body. `standard`: Standard Webhooks. `token`: the secret in a header. `basic`: Basic authentication with the name of the source and the secret. `token` and `basic` are the weakest.',
  format:
    '`auto` detects the format. `mapping` reads events by the mapping. Another format removes the mapping and the preset.',
  preset:
    'A preset of GET /api/webhooks/presets. In a request, it sets mapping, severity_mapping, type_mapping, incident_type, signature and format unless the request has them.',
  mapping:
    'JSON pointers to the parts of an incident in an event. `items` leads to a list of events; then `^/` starts from the whole body. `lift` sets `fields` of the incident. A change replaces the whole mapping, sets the format `mapping`, and removes the preset unless the request names it.',
  incident_type: `Type of an incident if its event has none. ${CLEARED} An open set. Known: ${KNOWN_INCIDENT_TYPES.join(', ')}.`,
  severity_mapping: `Severities of words of the sender in any case, or of ranges of numbers such as \`0-39\`, or \`80-\` without an end. ${REPLACED}`,
  type_mapping: `Incident types of words of the sender for category, tactic or rule. The first entry that occurs in a word counts. Case, spaces, hyphens and underscores do not matter. ${REPLACED}`,
  incident_type_fixed: 'Words of an event do not change the type.',
  min_severity: 'Minimum severity of an incident.',
  auto_triage: 'Incidents of this source are triaged immediately.',
  playbook: `Name of the playbook that guides the triage. It may be created later. ${CLEARED}`,
};

function settingsFor(use: 'new' | 'change' | 'shown' | 'preset'): Type<SettingsChange> {
  class Settings {}
  const isChange = use === 'change';
  const isRequest = isChange || use === 'new';
  const declare = <Options extends FieldOptions>(
    name: keyof SourceSettings,
    fieldOf: (options: Options) => PropertyDecorator,
    given: Options,
  ) => {
    // A request may omit every setting. A response omits only settings whose default is null.
    const isOptional = isRequest || DEFAULT_SETTINGS[name] === null;
    const isInPresets = name === 'signature' || name === 'mapping';
    const optional = use === 'preset' ? !isInPresets : isOptional;
    const defaults = use === 'new' && { default: DEFAULT_SETTINGS[name] ?? undefined };
    const options = { ...given, description: ABOUT[name], optional, ...defaults };
    fieldOf(options)(Settings.prototype, name);
  };
  /** In responses, the set of values is open, because later releases may add values. */
  const oneOf = (name: string, values: readonly string[]) => (options: FieldOptions) =>
    isRequest ? Choice(`Known${name}`, values, options) : OpenChoice(name, values, options);
  const preset = (options: FieldOptions) =>
    isRequest ? Choice('KnownWebhookPreset', PRESET_NAMES, options) : Text({ ...options, max: 63 });
  /** A change removes a setting with an empty text, because null means that the setting does not change. */
  const clearable = (pattern: RegExp) =>
    isChange ? new RegExp(`^$|${pattern.source}`, pattern.flags) : pattern;

  declare('enabled', Flag, { example: true });
  declare('signature', oneOf('SignatureScheme', SIGNATURE_SCHEMES), { example: 'timestamped' });
  declare('format', oneOf('EventFormat', EVENT_FORMATS), { example: 'mapping' });
  declare('preset', preset, { example: 'alertmanager' });
  declare('mapping', JsonObject, { contract: MAPPING_CONTRACT, example: MAPPING_EXAMPLE });
  declare('incident_type', Text, {
    pattern: clearable(INCIDENT_TYPE),
    message:
      'incident_type must be 1 to 64 small letters, digits and underscores, beginning with a letter',
    example: 'other',
  });
  declare('severity_mapping', JsonObject, {
    contract: { additionalProperties: { $ref: '#/components/schemas/Severity' } },
    example: { urgent: 'critical', '0-39': 'low' },
  });
  declare('type_mapping', JsonObject, {
    contract: { additionalProperties: { type: 'string', pattern: INCIDENT_TYPE.source } },
    example: { impostor: 'bec' },
  });
  declare('incident_type_fixed', Flag, { example: false });
  declare('min_severity', (options) => Choice('Severity', SEVERITIES, options), { example: 'low' });
  declare('auto_triage', Flag, { example: true });
  declare('playbook', Text, {
    max: 100,
    pattern: clearable(PLAYBOOK),
    message:
      'playbook must be text without control characters, and without spaces at the beginning and end',
    contract: { minLength: isChange ? undefined : 1, pattern: undefined },
    example: 'phishing-response',
  });
  return Settings;
}

@NullIsAbsent()
export class WebhookSourceInputDto extends IntersectionType(
  PickType(WebhookSourceEntity, ['source']),
  settingsFor('new'),
) {
  @Secret({
    description:
      'Secret that the sender signs with. No response shows it. For `standard` it may be `whsec_` and base64 of at least 16 bytes; for `token` it is visible ASCII, for `basic` ASCII.',
  })
  readonly secret: string;
}

@NullIsAbsent()
export class WebhookSourceUpdateDto extends settingsFor('change') {
  @Secret({ optional: true, description: 'The previous secret stays valid for 24 h.' })
  readonly secret?: string;

  @Flag({ optional: true, description: 'Revokes the previous secret immediately.', example: false })
  readonly revoke_old_secret?: boolean;
}

const SORTS = sortWords('created_at', 'source');

export class WebhookSourceQueryDto extends PageQueryDto {
  @SortWords('WebhookSourceSort', SORTS)
  readonly sort: readonly (typeof SORTS)[number][] = ['-created_at'];
}

const TIMES = ['previous_secret_until', 'created_by', 'created_at', 'updated_at'] as const;

export class WebhookSourceDto extends IntersectionType(
  PickType(WebhookSourceEntity, ['source']),
  settingsFor('shown'),
  PickType(WebhookSourceEntity, TIMES),
) {}

export class DeletedWebhookSourceDto {
  @Text({ description: 'Name of the source.', example: 'mail-gateway' })
  readonly id: string;

  @AlwaysTrue()
  readonly deleted: true;
}

class PresetTextsDto {
  @Text({ example: 'alertmanager', max: 63 })
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
}

const WORDS = ['severity_mapping', 'type_mapping'] as const;

export class WebhookPresetDto extends IntersectionType(
  PresetTextsDto,
  PickType(settingsFor('preset'), ['signature', 'mapping', 'incident_type', ...WORDS]),
) {}

class PreviewedIncidentDto extends PickType(IncidentEntity, [
  ...(['incident_type', 'severity', 'title', 'fields', 'raw_data'] as const),
]) {
  @Text({ optional: true, description: 'Word with an unknown meaning.', example: 'apocalyptic' })
  readonly unknown_severity?: string;

  @Text({ optional: true, description: 'Identifies repetitions.', example: 'alert-4711' })
  readonly event_id?: string;
}

export class WebhookPreviewDto {
  @NestedList(() => PreviewedIncidentDto, { description: 'One incident for each event.' })
  readonly incidents: readonly PreviewedIncidentDto[];

  /** Returns the response as JSON text, because raw_data is stored text in which numbers keep all digits. */
  static envelopeOf(this: void, events: readonly ReadEvent[]): string {
    const incidents = events.map(({ incident, unknownSeverity, eventId: event_id }) => {
      const { raw_data, incident_type, severity, title, fields } = incident;
      const said = { incident_type, severity, unknown_severity: unknownSeverity };
      return jsonWithRawData({ ...said, title, event_id, fields }, raw_data);
    });
    return `{"data":{"incidents":[${incidents.join()}]}}`;
  }
}
