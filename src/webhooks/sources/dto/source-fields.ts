import { INCIDENT_TYPE, KNOWN_INCIDENT_TYPES, SEVERITIES } from '../../../incidents/incident.js';
import {
  Choice,
  type FieldOptions,
  Flag,
  JsonObject,
  OpenChoice,
  Text,
} from '../../../platform/validation/fields.js';
import type { Mapping } from '../../mapping/mapping.js';
import { PRESETS } from '../../mapping/presets.js';
import { LONGEST_SECRET, SECRET, SHORTEST_SECRET } from '../secret-rules.js';
import { EVENT_FORMATS, SIGNATURE_SCHEMES, SOURCE_NAME } from '../webhook-source.js';

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

export const SECRET_DESCRIPTION =
  'What the sender signs with; no answer shows it. No white space at its ends. For `standard` a secret may be `whsec_` ' +
  'and base64 of at least 16 bytes; for `token` it is visible ASCII.';

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
    'Webhooks; `token`: the secret itself in a header, the weakest.',
  example: 'timestamped',
};

export const Signature = (options: FieldOptions = {}) =>
  OpenChoice('SignatureScheme', SIGNATURE_SCHEMES, { ...SIGNATURE, ...options });

export const ChosenSignature = (options: FieldOptions = {}) =>
  Choice('KnownSignatureScheme', SIGNATURE_SCHEMES, { ...SIGNATURE, ...options });

const FORMAT = {
  description: '`auto` finds it out; `mapping` reads events as `mapping` says.',
  example: 'mapping',
};

export const Format = (options: FieldOptions = {}) =>
  OpenChoice('EventFormat', EVENT_FORMATS, { ...FORMAT, ...options });

export const ChosenFormat = (options: FieldOptions = {}) =>
  Choice('KnownEventFormat', EVENT_FORMATS, { ...FORMAT, ...options });

export const ChosenPreset = (options: FieldOptions = {}) =>
  Choice(
    'KnownWebhookPreset',
    PRESETS.map(({ name }) => name),
    { example: 'alertmanager', ...options },
  );

export const PresetName = (options: FieldOptions = {}) =>
  Text({ max: 63, example: 'alertmanager', ...options });

/** No `oneOf`: generated clients fail on a choice between a text and lists of lists. */
const pointers = (description: string) => ({ description });
const POINTERS = 'A JSON pointer, or a list of which the first that leads somewhere counts.';
const JOINED = `${POINTERS} A list within the list is several that belong together.`;

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
        items: pointers(`${POINTERS} It leads to the list whose members are events of their own.`),
        title: pointers(JOINED),
        severity: pointers(POINTERS),
        event_id: pointers(JOINED),
        type: pointers(POINTERS),
        lift: {
          type: 'object',
          description: 'Keys of raw_data, and where their values are.',
          additionalProperties: true,
        },
      },
    },
  });

export const MAPPING_DESCRIPTION =
  'Where an event has what an incident needs, as JSON pointers; of a list the first that leads somewhere counts. `items` ' +
  'leads to an array whose members are events of their own, where `^/` starts from the whole body; `lift` names keys of ' +
  'raw_data. A list within the list of title or event_id is several that belong together.';

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
