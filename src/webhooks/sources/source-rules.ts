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
  const check = (isValid: boolean, field: string, code: string, text: string) => {
    if (!isValid) problems.push({ field, code, message: `${field} ${text}.` });
    return isValid;
  };
  const checkSize = (size: number, most: number, field: string) =>
    check(size <= most, field, 'size', 'has no entries, or too many');

  const membersOf = (value: unknown, path: string, most = Infinity) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!check(isObject, path, 'is_json_object', 'must be an object')) return [];
    const members = Object.entries(value as Readonly<Record<string, unknown>>);
    checkSize(members.length, most, path);
    return members.map(([key, member]) => [key, member, `${path}.${shownName(key)}`] as const);
  };

  const checkPointers = (value: unknown, path: string, levels = 1): void => {
    if (Array.isArray(value) && levels > 0) {
      if (!checkSize(value.length || Infinity, MOST_POINTERS, path)) return;
      value.forEach((one, at) => checkPointers(one, `${path}.${at}`, levels - 1));
      return;
    }
    const isPointer = typeof value === 'string' && new RegExp(POINTER.pattern).test(value);
    if (check(isPointer, path, 'json_pointer', 'must be a JSON pointer, such as /alert/title')) {
      check(String(value).length <= POINTER.maxLength, path, 'max_length', 'is too long');
    }
  };

  const { format, preset, mapping, severity_mapping, type_mapping } = change;
  for (const [key, value, path] of mapping ? membersOf(mapping, 'mapping') : []) {
    if (LEVELS.has(key)) checkPointers(value, path, LEVELS.get(key));
    else if (check(key === 'lift', path, 'unknown_field', 'is not a known field')) {
      for (const [field, pointers, at] of membersOf(value, path, MOST_LIFTED)) {
        const isKey = /^[a-z][a-z0-9_]{0,63}$/.test(field);
        check(isKey, at, 'matches', 'must be a key of a-z, 0-9 and _');
        checkPointers(pointers, at);
      }
    }
  }
  if (mapping && problems.length === 0) {
    const isTelling = TELLING.some((name) => Object.hasOwn(mapping, name));
    check(isTelling, 'mapping', 'required', `must have at least one of: ${TELLING.join(', ')}`);
  }
  const words = { severity_mapping, type_mapping };
  for (const [name, mapped] of Object.entries(words).filter(([, mapped]) => mapped)) {
    for (const [word, meaning, path] of membersOf(mapped, name, MOST_WORDS)) {
      check(/[^\s_-]/.test(word), path, 'matches', 'must be a word');
      check(word.length <= LONGEST_WORD, path, 'max_length', 'is too long');
      if (name === 'severity_mapping') {
        const isWord = !LIKE_A_RANGE.test(word) || RANGE.test(word);
        check(isWord, path, 'matches', 'must be a word, a number, or a range such as 0-39');
        const isSeverity = SEVERITIES.some((severity) => severity === meaning);
        check(isSeverity, path, 'is_in', `must be one of: ${SEVERITIES.join(', ')}`);
      } else {
        const isType = typeof meaning === 'string' && INCIDENT_TYPE.test(meaning);
        check(isType, path, 'matches', 'must be an incident type');
      }
    }
  }
  const isOther = (mapping || preset) && format !== undefined && format !== 'mapping';
  const rule = 'must be mapping, or absent, if there is a mapping or a preset';
  check(!isOther, 'format', 'is_in', rule);
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
  const names = Object.keys(DEFAULT_SETTINGS) as (keyof SourceSettings)[];
  const present = names.filter((name) => change[name] !== undefined);
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

/** Without a new secret, checks the current secret. */
export function requireUsable(
  secret: string | undefined,
  signature: SignatureScheme,
  current?: string,
): void {
  const [pattern, rule] = SECRET_RULES[signature] ?? [/^/, ''];
  const used = secret ?? current;
  if (used === undefined || pattern.test(used)) return;
  throw ValidationError.of(secret === undefined ? 'signature' : 'secret', 'matches', rule);
}
