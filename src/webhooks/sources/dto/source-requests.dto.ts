import {
  INCIDENT_TYPE,
  KNOWN_INCIDENT_TYPES,
  SEVERITIES,
  type Severity,
} from '../../../incidents/incident.js';
import {
  Choice,
  type FieldOptions,
  Flag,
  JsonObject,
  OpenChoice,
  Text,
  NullIsAbsent,
} from '../../../platform/validation/fields.js';
import { PRESETS } from '../../presets/presets.js';
import { LONGEST_POINTER, MOST_LIFTED, MOST_POINTERS } from '../../reading/mapping.js';
import { DEFAULT_SETTINGS, LONGEST_SECRET, SECRET, SHORTEST_SECRET } from '../source-rules.js';
import {
  EVENT_FORMATS,
  type EventFormatName,
  type Mapping,
  SIGNATURE_SCHEMES,
  SOURCE_NAME,
  type SeverityMapping,
  type SignatureScheme,
  type TypeMapping,
} from '../webhook-source.entity.js';
import { NotEquals } from 'class-validator';
import { PageQueryDto, SortWords } from '../../../platform/paging/page-query.dto.js';
import { WEBHOOK_SOURCE_SORTS, type WebhookSourceSort } from '../webhook-sources.repository.js';

/* Fields of a source in requests and responses. */

export const SourceName = () =>
  Text({
    pattern: SOURCE_NAME,
    message:
      'source must be 1 to 63 small letters, digits, hyphens and underscores, beginning with a letter or digit',
    description: 'Name of the source. Events are sent to `/api/webhooks/<source>`.',
    example: 'mail-gateway',
    contract: { title: 'WebhookSourceName' },
  });

export const Secret = (options: FieldOptions = {}) =>
  Text({
    ...options,
    min: SHORTEST_SECRET,
    max: LONGEST_SECRET,
    pattern: SECRET,
    message: 'secret must not begin or end with white space, which senders trim',
    // The syntax of this pattern differs between languages.
    contract: { pattern: undefined, format: 'password' },
    example: 'v7Zq-1mC4tXs9bLw2RkE8yHd',
  });

const SECRET_DESCRIPTION =
  'Secret that the sender signs with. No response shows it. No white space at its ends. For `standard` it may be `whsec_` and ' +
  'base64 of at least 16 bytes; for `token` it is visible ASCII, for `basic` ASCII.';

export const Enabled = (options: FieldOptions = {}) =>
  Flag({
    description: 'Events of a disabled source are rejected as if the source did not exist.',
    example: true,
    ...options,
  });

/* Later releases may add signatures, formats and presets, so responses have open sets. */

const SIGNATURE = {
  description:
    '`timestamped`: HMAC-SHA256 of time and body. `body`: HMAC-SHA256 of the body. `standard`: headers of Standard Webhooks. ' +
    '`token`: the secret in a header. `basic`: Basic authentication with the name of the source and the secret. `token` and ' +
    '`basic` are the weakest.',
  example: 'timestamped',
};

export const Signature = (options: FieldOptions = {}) =>
  OpenChoice('SignatureScheme', SIGNATURE_SCHEMES, { ...SIGNATURE, ...options });

const ChosenSignature = (options: FieldOptions = {}) =>
  Choice('KnownSignatureScheme', SIGNATURE_SCHEMES, { ...SIGNATURE, ...options });

const FORMAT = {
  description: '`auto` detects the format. `mapping` reads events by the mapping.',
  example: 'mapping',
};

export const Format = (options: FieldOptions = {}) =>
  OpenChoice('EventFormat', EVENT_FORMATS, { ...FORMAT, ...options });

const ChosenFormat = (options: FieldOptions = {}) =>
  Choice('KnownEventFormat', EVENT_FORMATS, { ...FORMAT, ...options });

const ChosenPreset = (options: FieldOptions = {}) =>
  Choice(
    'KnownWebhookPreset',
    PRESETS.map(({ name }) => name),
    { example: 'alertmanager', ...options },
  );

export const PresetName = (options: FieldOptions = {}) =>
  Text({ max: 63, example: 'alertmanager', ...options });

const POINTER = {
  type: 'string',
  maxLength: LONGEST_POINTER,
  pattern: '^\\^?(/([^~\\x00]|~[01])*)?$',
};
const oneOrMany = (items: object, description?: string) => ({
  description,
  // Some generators create code that does not compile from a oneOf with a list.
  'x-alternatives': [POINTER, { type: 'array', items, minItems: 1, maxItems: MOST_POINTERS }],
});
const FIRST_COUNTS =
  'A JSON pointer, or a list of pointers. The first pointer that leads to a value counts.';
const POINTERS = oneOrMany(POINTER, FIRST_COUNTS);
const JOINED_POINTERS = oneOrMany(
  oneOrMany(POINTER),
  `${FIRST_COUNTS} The values of a list within the list are joined.`,
);

/** The fingerprint alone is not an id: an alert that fires again has the same. */
export const MAPPING_EXAMPLE = {
  items: '/alerts',
  title: ['/annotations/summary', '/labels/alertname'],
  severity: '/labels/severity',
  event_id: [['/fingerprint', '/startsAt']],
  lift: { host: '/labels/instance' },
} satisfies Mapping;

export const EventMapping = (options: FieldOptions = {}) =>
  JsonObject({
    ...options,
    example: MAPPING_EXAMPLE,
    contract: {
      title: 'EventMapping',
      additionalProperties: false,
      properties: {
        items: oneOrMany(POINTER, `${FIRST_COUNTS} It leads to a list of events.`),
        title: JOINED_POINTERS,
        severity: POINTERS,
        event_id: JOINED_POINTERS,
        type: POINTERS,
        lift: {
          type: 'object',
          description: 'Pointers to the values of `fields`.',
          additionalProperties: oneOrMany(POINTER),
          maxProperties: MOST_LIFTED,
        },
      },
    },
  });

const MAPPING_DESCRIPTION =
  'JSON pointers to the parts of an incident in an event. Of a list, the first pointer that leads to a value counts; the values of a ' +
  'list within the list of `title` or `event_id` are joined. `items` leads to a list of events; then `^/` starts from the whole ' +
  'body. `lift` sets `fields` of the incident.';

export const SeverityWords = (options: FieldOptions = {}) =>
  JsonObject({
    description:
      'Severities of words of the sender, or of ranges of numbers such as `0-39`, or `80-` without an end. Case does not matter.',
    example: { urgent: 'critical', '0-39': 'low' },
    contract: { additionalProperties: { $ref: '#/components/schemas/Severity' } },
    ...options,
  });

export const TypeWords = (options: FieldOptions = {}) =>
  JsonObject({
    description:
      'Incident types of words of the sender for category, tactic or rule. The first entry that occurs in a word counts. Case, spaces, hyphens and underscores do not matter.',
    example: { impostor: 'bec' },
    contract: { additionalProperties: { type: 'string', pattern: INCIDENT_TYPE.source } },
    ...options,
  });

export const TypeFixed = (options: FieldOptions = {}) =>
  Flag({
    description:
      'Each incident has `incident_type`, or the usual type of the format. Words of the event do not matter.',
    example: false,
    ...options,
  });

export const MinSeverity = (options: FieldOptions = {}) =>
  Choice('Severity', SEVERITIES, {
    description: 'Minimum severity of its incidents. An event can raise it and cannot lower it.',
    example: 'low',
    ...options,
  });

/** A request removes the text with an empty text, because null means absent. */
interface Clearable extends FieldOptions {
  readonly clearable?: boolean;
}

const CLEARED_BY = 'An empty text removes it.';

const orEmpty = (pattern: RegExp): RegExp => new RegExp(`^$|${pattern.source}`, pattern.flags);

export const UsualType = ({ clearable = false, ...options }: Clearable = {}) =>
  Text({
    pattern: clearable ? orEmpty(INCIDENT_TYPE) : INCIDENT_TYPE,
    message:
      'incident_type must be 1 to 64 small letters, digits and underscores, beginning with a letter',
    description: clearable
      ? CLEARED_BY
      : `Type of an incident if its event has none. An open set. Known: ${KNOWN_INCIDENT_TYPES.join(', ')}.`,
    example: 'other',
    optional: clearable,
    ...options,
  });

export const AutoTriage = (options: FieldOptions = {}) =>
  Flag({
    description: 'Incidents of this source are triaged immediately.',
    example: true,
    ...options,
  });

const PLAYBOOK = /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u;

export const PlaybookName = ({ clearable = false, ...options }: Clearable = {}) =>
  Text({
    max: 100,
    pattern: clearable ? orEmpty(PLAYBOOK) : PLAYBOOK,
    message: 'playbook must be text without control characters, not framed by spaces',
    description: clearable
      ? CLEARED_BY
      : 'Name of the playbook that guides the triage. It may be created later.',
    example: 'phishing-response',
    optional: clearable,
    ...options,
    // The syntax of this pattern differs between languages.
    contract: { minLength: clearable ? undefined : 1, pattern: undefined },
  });

/** A source of this name would hide the address of the presets. */
const RESERVED_NAME = 'presets';

const FILLS_IN =
  'It sets mapping, severity_mapping, type_mapping, incident_type, signature and format';

@NullIsAbsent()
export class WebhookSourceInputDto {
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
    description: `A preset of GET /api/webhooks/presets. ${FILLS_IN} unless the request has them.`,
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

@NullIsAbsent()
export class WebhookSourceUpdateDto {
  @Secret({
    optional: true,
    description:
      'The previous secret stays valid for 24 h, unless revoke_old_secret is true. At most two secrets are valid. The current ' +
      'secret changes nothing.',
  })
  readonly secret?: string;

  @Flag({
    optional: true,
    description: 'Revokes the previous secret immediately.',
    example: false,
  })
  readonly revoke_old_secret?: boolean;

  @Enabled({ optional: true })
  readonly enabled?: boolean;

  @ChosenSignature({ optional: true })
  readonly signature?: SignatureScheme;

  @ChosenFormat({
    optional: true,
    description: 'A format other than `mapping` removes the mapping and the preset.',
  })
  readonly format?: EventFormatName;

  @ChosenPreset({
    optional: true,
    description: `${FILLS_IN} as in a new source, unless the request has them.`,
  })
  readonly preset?: string;

  @EventMapping({
    optional: true,
    description:
      'Replaces the whole mapping. Format becomes `mapping`. The source keeps no preset unless the request names it.',
  })
  readonly mapping?: Mapping;

  @UsualType({ clearable: true })
  readonly incident_type?: string;

  @SeverityWords({ optional: true, description: 'Replaces all words.' })
  readonly severity_mapping?: SeverityMapping;

  @TypeWords({ optional: true, description: 'Replaces all words.' })
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
