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
} from './fields.js';
import { SAYS_SOMETHING } from '../text.js';
import { QueryInteger, Words } from './query-fields.js';
import { createValidationPipe } from './validation.pipe.js';

const pipe = createValidationPipe();

class Inner {
  @Flag()
  readonly flag: boolean;
}

/** A class whose one field, `reason`, is of the kind. */
function classWith(kind: PropertyDecorator): new () => object {
  class One {
    declare readonly reason: unknown;
  }
  kind(One.prototype, 'reason');
  return One;
}

async function errorsOf(kind: PropertyDecorator, body: object): Promise<FieldError[]> {
  const metatype = classWith(kind);
  const error = await pipe.transform(body, { type: 'body', metatype }).then(
    () => undefined,
    (thrown: unknown) => thrown as ValidationError,
  );
  return [...(error?.errors ?? [])];
}

function contractOf(kind: PropertyDecorator): unknown {
  return Reflect.getMetadata('swagger/apiModelProperties', classWith(kind).prototype, 'reason');
}

/** Each kind with what the contract says of it, a value that fits, and one that does not with the code that says so. */
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
  ['QueryInteger', QueryInteger({ min: 1, max: 2 }), { minimum: 1 }, '2', '3', 'integer_range'],
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
  it.each(KINDS)('say of %s in the contract what they validate', async (...row) => {
    const [, kind, contract, right, wrong, code] = row;
    expect(contractOf(kind)).toMatchObject(contract);
    expect(await errorsOf(kind, { reason: right })).toEqual([]);
    expect((await errorsOf(kind, { reason: wrong })).map((error) => error.code)).toEqual([code]);
  });

  it('demand a field, and never take null for it', async () => {
    for (const [, kind] of KINDS) {
      expect((await errorsOf(kind, {})).map(({ code }) => code)).toEqual(['required']);
      expect(await errorsOf(kind, { reason: null })).not.toEqual([]);
    }
    expect(contractOf(Text())).toMatchObject({ required: true });
  });

  it('let a field be left out when it is optional, and still never take null for it', async () => {
    expect(await errorsOf(Text({ optional: true }), {})).toEqual([]);
    expect(await errorsOf(Text({ optional: true }), { reason: null })).not.toEqual([]);
    expect(contractOf(Text({ optional: true }))).toMatchObject({ required: false });
    expect(contractOf(JsonObject({ optional: true }))).toMatchObject({ selfRequired: false });
  });

  it('refuse a list that is longer than any list may be', () => {
    expect(() => NestedList(() => Inner, { maxItems: 1_001 })).toThrow(/more than 1000 items/);
  });
});
