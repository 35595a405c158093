import { INCIDENT_TYPE, SEVERITIES } from '../../incidents/incident.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { shownName } from '../../platform/text.js';
import type { ReadingRules } from '../sources/webhook-source.entity.js';
import { RANGE } from './words.js';

const MOST_POINTERS = 10;
const MOST_LIFTED = 32;
const POINTER = { type: 'string', maxLength: 512, pattern: '^\\^?(/([^~\\x00]|~[01])*)?$' };
const oneOrMany = (items: object, description?: string) => ({
  description,
  // From a oneOf with a list, some generators create code that does not compile.
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

/** Levels of lists in the pointers of a mapping. */
const LEVELS = new Map(Object.entries({ items: 1, title: 2, severity: 1, event_id: 2, type: 1 }));
/** A mapping without any of these fields cannot recognise an event. */
const TELLING = ['title', 'severity', 'event_id', 'type'];
const MOST_WORDS = 100;
const LONGEST_WORD = 64;
/** Matches numbers with signs between them, which are neither a word nor a range. */
const LIKE_A_RANGE = /^[\s\d.,<>=–…+-]*\d[\s\d.,<>=–…+-]*$/;

/** Returns the problems of the reading settings of a source. `null` means absent. */
export function readingProblems(rules: Partial<ReadingRules>): FieldError[] {
  const problems: FieldError[] = [];
  const add = (field: string, code: string, text: string) =>
    void problems.push({ field, code, message: `${field} ${text}.` });
  const addSize = (field: string) => add(field, 'size', 'has no entries, or too many');

  /** Returns each member of the object with its path. */
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
    for (const [word, meaning, path] of membersOf(rules[name], name, MOST_WORDS)) {
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

  const { mapping, severity_mapping, type_mapping } = rules;
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
  return problems;
}
