import { Ajv, type ErrorObject } from 'ajv';
import { INCIDENT_TYPE, SEVERITIES } from '../../incidents/incident.js';
import type { FieldError } from '../../platform/errors/app-error.js';
import { parsePointer } from '../../platform/json-pointer.js';
import { shownName } from '../../platform/text.js';
import type { ReadingRules } from '../sources/webhook-source.entity.js';
import { RANGE } from './words.js';

const MOST_POINTERS = 10;
const POINTER = {
  type: 'string',
  maxLength: 512,
  pattern: '^\\^?(/([^~\\x00]|~[01])*)?$',
};
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
      maxProperties: 32,
    },
  },
};

/** A mapping without any of these fields cannot recognise an event. */
const TELLING = ['title', 'severity', 'event_id', 'type'];

type Problem = readonly [code: string, text: string];
const NO_POINTER: Problem = ['json_pointer', 'must be a JSON pointer, such as /alert/title'];
const NO_OBJECT: Problem = ['is_json_object', 'must be an object'];
const SIZE: Problem = ['size', 'has no entries, or too many'];
const PROBLEMS: Readonly<Record<string, Problem>> = {
  type: NO_POINTER,
  pattern: NO_POINTER,
  maxLength: ['max_length', 'is too long'],
  minItems: SIZE,
  maxItems: SIZE,
  maxProperties: SIZE,
  additionalProperties: ['unknown_field', 'is not a known field'],
  anyOf: ['required', `must have at least one of: ${TELLING.join(', ')}`],
  enum: ['is_in', `must be one of: ${SEVERITIES.join(', ')}`],
};
const wrong = (text: string): { problem: Problem } => ({ problem: ['matches', `must be ${text}`] });

/** Matches numbers with signs between them, which are neither a word nor a range. */
const LIKE_A_RANGE = String.raw`^[\s\d.,<>=–…+-]*\d[\s\d.,<>=–…+-]*$`;
const RANGE_KEY = { pattern: RANGE.source, ...wrong('a word, a number, or a range such as 0-39') };

const ajv = new Ajv({ allErrors: true, ownProperties: true, strict: false, verbose: true });
ajv.addKeyword({
  keyword: 'x-alternatives',
  macro: ([one, list]: readonly object[]) => ({ if: { type: 'array' }, then: list, else: one }),
});
const { properties } = MAPPING_CONTRACT;
const LIFT_KEY = { pattern: '^[a-z][a-z0-9_]{0,63}$', ...wrong('a key of a-z, 0-9 and _') };
const wordsTo = (values: object, keys: object = {}) => ({
  type: 'object',
  problem: NO_OBJECT,
  maxProperties: 100,
  propertyNames: { pattern: String.raw`[^\s_-]`, maxLength: 64, ...wrong('a word'), ...keys },
  additionalProperties: values,
});
const validate = ajv.compile({
  properties: {
    mapping: {
      ...MAPPING_CONTRACT,
      type: 'object',
      problem: NO_OBJECT,
      anyOf: TELLING.map((name) => ({ required: [name] })),
      properties: {
        ...properties,
        lift: { ...properties.lift, problem: NO_OBJECT, propertyNames: LIFT_KEY },
      },
    },
    severity_mapping: wordsTo(
      { enum: SEVERITIES },
      { if: { pattern: LIKE_A_RANGE }, then: RANGE_KEY },
    ),
    type_mapping: wordsTo({
      type: 'string',
      pattern: INCIDENT_TYPE.source,
      ...wrong('an incident type'),
    }),
  },
});

/** Returns the problems of the reading settings of a source. `null` means absent. */
export function readingProblems(rules: Partial<ReadingRules>): FieldError[] {
  const given = Object.entries(rules).filter(([, value]) => value !== null && value !== undefined);
  validate(Object.fromEntries(given));
  return (validate.errors ?? []).flatMap(problemOf);
}

/** Errors of other keywords repeat an error of a subschema. */
function problemOf({ keyword, instancePath, propertyName, params, parentSchema }: ErrorObject) {
  const { problem } = parentSchema as { readonly problem?: Problem };
  const known = PROBLEMS[keyword];
  if (!known) return [];
  const [code, text] = (known === NO_POINTER && problem) || known;
  const { additionalProperty } = params as { readonly additionalProperty?: string };
  const name = propertyName ?? additionalProperty ?? [];
  const field = [...parsePointer(instancePath)!, name].flat().map(shownName).join('.');
  return [{ field, code, message: `${field} ${text}.` }];
}
