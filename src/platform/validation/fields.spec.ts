import type { FieldError, ValidationError } from '../errors/app-error.js';
import {
  Choice,
  Choices,
  Decimal,
  Flag,
  Id,
  Instant,
  JsonObject,
  Nested,
  NestedList,
  NotBlank,
  Reason,
  Text,
  Texts,
  WholeNumber,
  isIsoTime,
} from './fields.js';
import { SAYS_SOMETHING } from '../text.js';
import { QueryInteger, Words } from './query-fields.js';
import { StrictValidationPipe } from './validation.pipe.js';

const pipe = new StrictValidationPipe();

class Inner {
  @Flag()
  readonly flag: boolean;
}

/** Returns a class with one field, `reason`, that has the given decorator. */
function classWith(kind: PropertyDecorator): new () => object {
  class One {
    declare readonly reason: unknown;
  }
  kind(One.prototype, 'reason');
  return One;
}

function errorsOf(kind: PropertyDecorator, fields: object): FieldError[] {
  try {
    pipe.transform(fields, { type: 'query', metatype: classWith(kind) });
    return [];
  } catch (thrown) {
    return [...(thrown as ValidationError).errors];
  }
}

function contractOf(kind: PropertyDecorator): unknown {
  return Reflect.getMetadata('swagger/apiModelProperties', classWith(kind).prototype, 'reason');
}

/** Each kind of field with its schema, a valid value, and an invalid value with its error code. */
const KINDS: [string, PropertyDecorator, object, unknown, unknown, string][] = [
  ['Text', Text(), { type: 'string' }, '', 1, 'is_string'],
  ['Text with max', Text({ max: 2 }), { maxLength: 2 }, 'ab', 'abc', 'max_length'],
  ['Text with min and max', Text({ min: 1, max: 2 }), { minLength: 1 }, 'a', '', 'is_length'],
  ['Text with pattern', Text({ pattern: /^a/ }), { pattern: '^a' }, 'ab', 'ba', 'matches'],
  [
    'NotBlank',
    NotBlank({ max: 2 }),
    { minLength: 1, pattern: SAYS_SOMETHING },
    'a',
    ' ',
    'matches',
  ],
  ['Reason', Reason({ max: 2 }), { minLength: 1, maxLength: 2 }, 'a', 'abc', 'max_length'],
  ['Reason of spaces', Reason({ max: 3 }), { minLength: 1 }, ' a ', ' \t\n', 'matches'],
  ['Texts', Texts({ maxItems: 1 }), { maxItems: 1 }, ['a'], ['a', 'b'], 'array_max_size'],
  ['Choice', Choice('Two', ['a', 'b']), { enum: ['a', 'b'] }, 'a', 'c', 'is_in'],
  ['Choices', Choices('Two', ['a', 'b']), { enumName: 'Two' }, ['a'], ['c'], 'is_in'],
  ['WholeNumber', WholeNumber({ min: 1, max: 2 }), { minimum: 1, maximum: 2 }, 1, 0, 'min'],
  ['Decimal', Decimal({ min: 0, max: 1 }), { type: 'number', maximum: 1 }, 0.5, 1.5, 'max'],
  ['Flag', Flag(), { type: 'boolean' }, false, 'false', 'is_boolean'],
  ['Instant', Instant(), { format: 'date-time' }, '2026-01-31T09:30:00Z', 'now', 'is_iso_time'],
  ['Id', Id('ThingId'), { format: 'uuid' }, '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e', '1', 'is_uuid'],
  ['JsonObject', JsonObject(), { additionalProperties: true }, { a: [1] }, [], 'is_json_object'],
  ['Nested', Nested(() => Inner), {}, { flag: true }, [], 'is_json_object'],
  ['NestedList', NestedList(() => Inner), { isArray: true }, [{ flag: true }], {}, 'is_array'],
  ['QueryInteger', QueryInteger({ min: 1, max: 2 }), { minimum: 1 }, '2', '3', 'is_int'],
  [
    'Words',
    Words('Letter', ['a', 'b']),
    { schema: { type: 'array', maxItems: 20 }, style: 'form', explode: false },
    ['a,b', 'a'],
    'a,c',
    'words',
  ],
];

describe('the decorators of fields', () => {
  it.each(KINDS)('describe %s in the contract as strictly as they validate it', (...row) => {
    const [, kind, contract, right, wrong, code] = row;
    expect(contractOf(kind)).toMatchObject(contract);
    expect(errorsOf(kind, { reason: right })).toEqual([]);
    expect(errorsOf(kind, { reason: wrong }).map((error) => error.code)).toEqual([code]);
  });

  it('require a field, and reject null', () => {
    for (const [, kind] of KINDS) {
      expect(errorsOf(kind, {}).map(({ code }) => code)).toEqual(['required']);
      expect(errorsOf(kind, { reason: null })).not.toEqual([]);
    }
    expect(contractOf(Text())).toMatchObject({ required: true });
  });

  it('allow an optional field to be absent, but reject null', () => {
    expect(errorsOf(Text({ optional: true }), {})).toEqual([]);
    expect(errorsOf(Text({ optional: true }), { reason: null })).not.toEqual([]);
    expect(contractOf(Text({ optional: true }))).toMatchObject({ required: false });
    expect(contractOf(JsonObject({ optional: true }))).toMatchObject({ selfRequired: false });
  });

  it('reject a declaration of a list above the maximum length', () => {
    expect(() => NestedList(() => Inner, { maxItems: 1_001 })).toThrow(/more than 1000 items/);
  });
});

describe('isIsoTime', () => {
  it.each([
    '2026-01-31T09:30:00Z',
    '2024-02-29T23:59:59.123456789+05:30',
    '2026-01-31T09:30:00-0000',
    '0001-01-01T00:00:00Z',
  ])('accepts %s', (text) => expect(isIsoTime(text)).toBe(true));

  it.each([
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01 00:00:00Z',
    '0000-01-01T00:00:00Z',
    '+012026-01-01T00:00:00Z',
    ' 2026-01-31T09:30:00Z',
    '2026-01-31T09:30:00Z\n',
    '2026-01-31T09:30:00+25:00',
    1_700_000_000,
  ])('rejects %j', (text) => expect(isIsoTime(text)).toBe(false));
});
