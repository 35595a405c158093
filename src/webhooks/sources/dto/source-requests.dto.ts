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
} from '../../../platform/validation/fields.js';
import type { Mapping } from '../../mapping/mapping.js';
import { LONGEST_POINTER, MOST_LIFTED, MOST_POINTERS } from '../../mapping/mapping-rules.js';
import { PRESETS } from '../../mapping/presets.js';
import { DEFAULT_SETTINGS, LONGEST_SECRET, SECRET, SHORTEST_SECRET } from '../source-rules.js';
import {
  EVENT_FORMATS,
  type EventFormatName,
  SIGNATURE_SCHEMES,
  SOURCE_NAME,
  type SeverityMapping,
  type SignatureScheme,
  type TypeMapping,
} from '../webhook-source.js';
import { NotEquals } from 'class-validator';
import { PageQueryDto, SortWords } from '../../../platform/paging/page-query.dto.js';
import { NullIsAbsent } from '../../../platform/validation/json-shield.js';
import { WEBHOOK_SOURCE_SORTS, type WebhookSourceSort } from '../webhook-sources.repository.js';

/* The fields of a source, as requests and answers have them. */

export const SourceName = () =>
  Text({
    pattern: SOURCE_NAME,
    message:
      'source must be 1 to 63 small letters, digits, hyphens and underscores, beginning with a letter or digit',
    description: 'Its name. Events are sent to `/api/webhooks/<source>`.',
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
    // Other languages have other words for such a pattern.
    contract: { pattern: undefined, format: 'password' },
    example: 'v7Zq-1mC4tXs9bLw2RkE8yHd',
  });

const SECRET_DESCRIPTION =
  'What the sender signs with; no answer shows it. No white space at its ends. For `standard` a secret may be `whsec_` ' +
  'and base64 of at least 16 bytes; for `token` it is visible ASCII, for `basic` ASCII.';

export const Enabled = (options: FieldOptions = {}) =>
  Flag({
    description: 'A disabled source is answered like one that is not there.',
    example: true,
    ...options,
  });

/*
 * Signatures, formats and presets become more: what requests choose is one of those that there are, and answers may have one
 * that a newer release has brought.
 */

const SIGNATURE = {
  description:
    '`timestamped`: HMAC-SHA256 of time and body; `body`: of the body alone; `standard`: the headers of Standard ' +
    'Webhooks; `token`: the secret itself in a header; `basic`: Basic authentication with the name of the source as user ' +
    'name and the secret as password. `token` and `basic` are the weakest.',
  example: 'timestamped',
};

export const Signature = (options: FieldOptions = {}) =>
  OpenChoice('SignatureScheme', SIGNATURE_SCHEMES, { ...SIGNATURE, ...options });

const ChosenSignature = (options: FieldOptions = {}) =>
  Choice('KnownSignatureScheme', SIGNATURE_SCHEMES, { ...SIGNATURE, ...options });

const FORMAT = {
  description: '`auto` finds it out; `mapping` reads events as `mapping` says.',
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
  // Some generators make code that does not compile of a oneOf with a list in it.
  'x-alternatives': [POINTER, { type: 'array', items, minItems: 1, maxItems: MOST_POINTERS }],
});
const FIRST_COUNTS = 'A JSON pointer, or a list of which the first that leads to a value counts.';
const POINTERS = oneOrMany(POINTER, FIRST_COUNTS);
const JOINED_POINTERS = oneOrMany(
  oneOrMany(POINTER),
  `${FIRST_COUNTS} The values of a list within the list are joined.`,
);

/** What people copy. The fingerprint alone is no id: the same alert has it again when it fires next week. */
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
        items: oneOrMany(
          POINTER,
          `${FIRST_COUNTS} It leads to the list whose members are events of their own.`,
        ),
        title: JOINED_POINTERS,
        severity: POINTERS,
        event_id: JOINED_POINTERS,
        type: POINTERS,
        lift: {
          type: 'object',
          description: "Names of the incident's fields, and where their values are.",
          additionalProperties: oneOrMany(POINTER),
          maxProperties: MOST_LIFTED,
        },
      },
    },
  });

const MAPPING_DESCRIPTION =
  'JSON pointers to the parts of an incident in an event. Of several pointers, the first that leads to a value counts; the values ' +
  'of a list within the list of `title` or `event_id` are joined. `items` leads to a list whose members are events; then `^/` ' +
  'starts from the whole body. `lift` fills `fields` of the incident.';

export const SeverityWords = (options: FieldOptions = {}) =>
  JsonObject({
    description:
      "From the sender's words, or from ranges of numbers such as `0-39`, or `80-` without an end, to severities. Capitals do not count.",
    example: { urgent: 'critical', '0-39': 'low' },
    contract: { additionalProperties: { $ref: '#/components/schemas/Severity' } },
    ...options,
  });

export const TypeWords = (options: FieldOptions = {}) =>
  JsonObject({
    description:
      "From the sender's words for category, tactic or rule to incident types. The first entry counts whose word occurs in one of them; capitals, blanks, hyphens and underscores do not count.",
    example: { impostor: 'bec' },
    contract: { additionalProperties: { type: 'string', pattern: INCIDENT_TYPE.source } },
    ...options,
  });

export const TypeFixed = (options: FieldOptions = {}) =>
  Flag({
    description:
      'Gives each incident `incident_type`, or the usual type of the format without one, whatever words the event has.',
    example: false,
    ...options,
  });

export const MinSeverity = (options: FieldOptions = {}) =>
  Choice('Severity', SEVERITIES, {
    description: 'Minimum severity of its incidents. An event can raise it and cannot lower it.',
    example: 'low',
    ...options,
  });

/** A text that a change may take away, which no JSON null does in this contract. */
interface Clearable extends FieldOptions {
  readonly clearable?: boolean;
}

const CLEARED_BY = 'An empty text takes it away.';

const orEmpty = (pattern: RegExp): RegExp => new RegExp(`^$|${pattern.source}`, pattern.flags);

export const UsualType = ({ clearable = false, ...options }: Clearable = {}) =>
  Text({
    pattern: clearable ? orEmpty(INCIDENT_TYPE) : INCIDENT_TYPE,
    message:
      'incident_type must be 1 to 64 small letters, digits and underscores, beginning with a letter',
    description: clearable
      ? CLEARED_BY
      : `The type of an incident where its event does not tell it. An open set. Known: ${KNOWN_INCIDENT_TYPES.join(', ')}.`,
    example: 'other',
    optional: clearable,
    ...options,
  });

export const AutoTriage = (options: FieldOptions = {}) =>
  Flag({ description: 'Incidents of this source are triaged at once.', example: true, ...options });

const PLAYBOOK = /^[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u;

export const PlaybookName = ({ clearable = false, ...options }: Clearable = {}) =>
  Text({
    max: 100,
    pattern: clearable ? orEmpty(PLAYBOOK) : PLAYBOOK,
    message: 'playbook must be text without control characters, not framed by spaces',
    description: clearable
      ? CLEARED_BY
      : 'The name of the playbook that guides the triage. It may be made later.',
    example: 'phishing-response',
    optional: clearable,
    ...options,
    // Other languages have other words for such a pattern.
    contract: { minLength: clearable ? undefined : 1, pattern: undefined },
  });

/** An address of ours, which a source of that name would hide. */
const RESERVED_NAME = 'presets';

const FILLS_IN =
  'fills in mapping, severity_mapping, type_mapping, incident_type, signature and format';

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

@NullIsAbsent()
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
