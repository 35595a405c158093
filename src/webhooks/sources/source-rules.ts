import { INCIDENT_TYPE, SEVERITIES } from '../../incidents/incident.js';
import { type FieldError, ValidationError } from '../../platform/errors/app-error.js';
import { shownName } from '../../platform/text.js';
import { presetNamed } from '../reading/formats.js';
import { RANGE } from '../reading/words.js';
import type { SignatureScheme, WebhookSourceEntity } from './webhook-source.entity.js';

export const DEFAULT_SETTINGS = {
  enabled: true,
  signature: 'timestamped',
  format: 'auto',
  preset: null,
  mapping: null,
  incident_type: null,
  severity_mapping: {},
  type_mapping: {},
  incident_type_fixed: false,
  min_severity: 'low',
  auto_triage: false,
  playbook: null,
} as const satisfies Partial<WebhookSourceEntity>;

export type SourceSettings = Pick<WebhookSourceEntity, keyof typeof DEFAULT_SETTINGS>;

export const SETTINGS = Object.keys(DEFAULT_SETTINGS) as readonly (keyof SourceSettings)[];

export type SettingsChange = Partial<SourceSettings>;

const MOST_POINTERS = 10;
const MOST_LIFTED = 32;
const POINTER = { type: 'string', maxLength: 512, pattern: '^\\^?(/([^~\\x00]|~[01])*)?$' };
const oneOrMany = (items: object, description?: string) => ({
  description,
  // Not `oneOf`: for a oneOf that contains a list, some generators create code that does not compile.
  'x-alternatives': [POINTER, { type: 'array', items, minItems: 1, maxItems: MOST_POINTERS }],
});
const FIRST_COUNTS =
  'A JSON pointer, or a list of pointers. The first pointer that leads to a value counts.';
const POINTERS = oneOrMany(POINTER, FIRST_COUNTS);
const JOINED_POINTERS = oneOrMany(
  oneOrMany(POINTER),
  `${FIRST_COUNTS} The values of a list within the list are joined.`,
);

export const MAPPING_CONTRACT = {
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
};

/** Maximum levels of nested lists in the pointers of a mapping, by field. */
const LEVELS = new Map(Object.entries({ items: 1, title: 2, severity: 1, event_id: 2, type: 1 }));
/** Fields of which a mapping must have at least one. Otherwise, it could not recognise an event. */
const TELLING = ['title', 'severity', 'event_id', 'type'];
const MOST_WORDS = 100;
const LONGEST_WORD = 64;
/** Matches numbers with signs between them. Such a text is neither a word nor a range. */
const LIKE_A_RANGE = /^[\s\d.,<>=–…+-]*\d[\s\d.,<>=–…+-]*$/;

/** Returns the problems of the settings. `null` means that a setting is absent. */
export function settingsProblems(change: SettingsChange): FieldError[] {
  const problems: FieldError[] = [];
  const add = (field: string, code: string, text: string) =>
    void problems.push({ field, code, message: `${field} ${text}.` });
  const addSize = (field: string) => add(field, 'size', 'has no entries, or too many');

  const membersOf = (value: unknown, path: string, most = Infinity) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      add(path, 'is_json_object', 'must be an object');
      return [];
    }
    const members = Object.entries(value) as [string, unknown][];
    if (members.length > most) addSize(path);
    return members.map(([key, member]) => [key, member, `${path}.${shownName(key)}`] as const);
  };

  const checkPointers = (value: unknown, path: string, levels = 1): void => {
    if (Array.isArray(value) && levels > 0) {
      if (value.length === 0 || value.length > MOST_POINTERS) addSize(path);
      else value.forEach((one, at) => checkPointers(one, `${path}.${at}`, levels - 1));
    } else if (typeof value !== 'string' || !new RegExp(POINTER.pattern).test(value)) {
      add(path, 'json_pointer', 'must be a JSON pointer, such as /alert/title');
    } else if (value.length > POINTER.maxLength) add(path, 'max_length', 'is too long');
  };

  const checkWords = (name: 'severity_mapping' | 'type_mapping') => {
    const isSeverity = name === 'severity_mapping';
    for (const [word, meaning, path] of membersOf(change[name], name, MOST_WORDS)) {
      if (!/[^\s_-]/.test(word)) add(path, 'matches', 'must be a word');
      if (word.length > LONGEST_WORD) add(path, 'max_length', 'is too long');
      if (isSeverity && LIKE_A_RANGE.test(word) && !RANGE.test(word)) {
        add(path, 'matches', 'must be a word, a number, or a range such as 0-39');
      }
      if (isSeverity && !SEVERITIES.some((severity) => severity === meaning)) {
        add(path, 'is_in', `must be one of: ${SEVERITIES.join(', ')}`);
      }
      if (!isSeverity && !(typeof meaning === 'string' && INCIDENT_TYPE.test(meaning))) {
        add(path, 'matches', 'must be an incident type');
      }
    }
  };

  const { format, preset, mapping, severity_mapping, type_mapping } = change;
  if (mapping) {
    for (const [key, value, path] of membersOf(mapping, 'mapping')) {
      if (LEVELS.has(key)) checkPointers(value, path, LEVELS.get(key));
      else if (key !== 'lift') add(path, 'unknown_field', 'is not a known field');
      else {
        for (const [field, pointers, at] of membersOf(value, path, MOST_LIFTED)) {
          const isKey = /^[a-z][a-z0-9_]{0,63}$/.test(field);
          if (!isKey) add(at, 'matches', 'must be a key of a-z, 0-9 and _');
          checkPointers(pointers, at);
        }
      }
    }
    if (problems.length === 0 && !TELLING.some((name) => Object.hasOwn(mapping, name))) {
      add('mapping', 'required', `must have at least one of: ${TELLING.join(', ')}`);
    }
  }
  if (severity_mapping) checkWords('severity_mapping');
  if (type_mapping) checkWords('type_mapping');
  if ((mapping || preset) && format !== undefined && format !== 'mapping') {
    add('format', 'is_in', 'must be mapping, or absent, if there is a mapping or a preset');
  }
  return problems;
}

export function requireValidSettings(change: SettingsChange): void {
  const problems = settingsProblems(change);
  if (problems.length > 0) throw new ValidationError(problems);
}

/** Returns the settings after a request. A preset replaces all reading rules that are not in the request. */
export function settingsAfter(before: SourceSettings, change: SettingsChange): SourceSettings {
  requireValidSettings(change);
  const preset = change.preset ? presetNamed(change.preset) : undefined;
  const { mapping, severity_mapping, type_mapping, incident_type } = DEFAULT_SETTINGS;
  const after: SourceSettings = {
    ...DEFAULT_SETTINGS,
    ...given(before),
    // A new mapping detaches the source from its preset.
    ...(change.mapping && { format: 'mapping', preset: null }),
    ...(preset && { mapping, severity_mapping, type_mapping, incident_type, format: 'mapping' }),
    ...(preset && given(preset)),
    ...given(change),
  };
  if (after.format !== 'mapping') return { ...after, mapping: null, preset: null };
  if (after.mapping) return after;
  const message = 'mapping or preset is required if format is mapping.';
  throw ValidationError.of('mapping', 'required', message);
}

function given(change: SettingsChange): SettingsChange {
  const present = SETTINGS.filter((name) => change[name] !== undefined);
  return Object.fromEntries(
    present.map((name) => [name, change[name] === '' ? null : change[name]]),
  );
}

/** Excludes white space at the ends, because many senders trim pasted text. */
export const SECRET = /^\S(?:[^]*\S)?$/;

const SECRET_RULES: Partial<Record<SignatureScheme, readonly [pattern: RegExp, rule: string]>> = {
  // 16 bytes in base64 have 22 characters without padding.
  standard: [
    /^(?!whsec_)|^whsec_(?=[A-Za-z0-9+/]{22})(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/,
    'With the signature standard, base64 of at least 16 bytes must follow whsec_ in a secret.',
  ],
  token: [
    /^[\x21-\x7e]+$/,
    'With the signature token, a secret must be ASCII characters without spaces, because it is sent in a header.',
  ],
  // Senders encode a password with other characters in different ways.
  basic: [
    /^[\x20-\x7e]+$/,
    'With the signature basic, a secret must be ASCII characters, because it is sent as a password.',
  ],
};

export function secretProblem(secret: string, signature: SignatureScheme): string | undefined {
  const [pattern, rule] = SECRET_RULES[signature] ?? [/^/];
  return pattern.test(secret) ? undefined : rule;
}
