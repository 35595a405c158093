import { cost, LINEAR } from '../../../test/support/cost.js';
import fc from 'fast-check';
import type { FieldError, ValidationError } from '../errors/app-error.js';
import { JsonObject, Nested, NestedList, Text, Texts } from './fields.js';
import { StrictValidationPipe } from './validation.pipe.js';
import { getMetadataStorage, IsString, MaxLength, validate } from 'class-validator';

class StepDto {
  @Text({ min: 2, max: 3, pattern: /^[a-z]/ })
  readonly name: string;

  @JsonObject({ optional: true })
  readonly parameters?: object;
}

class BodyDto {
  @JsonObject({ optional: true })
  readonly free?: object;

  @Texts({ optional: true, maxItems: 3 })
  readonly tags?: string[];

  @Nested(() => StepDto, { optional: true })
  readonly step?: StepDto;

  @NestedList(() => StepDto, { optional: true, maxItems: 5 })
  readonly steps?: StepDto[];
}

const pipe = new StrictValidationPipe();
const transform = (body: unknown): unknown =>
  pipe.transform(body, { type: 'body', metatype: BodyDto });

function errorsOf(
  body: unknown,
  metatype: new () => object = BodyDto,
  type: 'body' | 'query' = 'body',
): FieldError[] {
  try {
    pipe.transform(body, { type, metatype });
    return [];
  } catch (thrown) {
    return [...(thrown as ValidationError).errors];
  }
}

describe('the validation pipe', () => {
  it('leaves free-form JSON unchanged at any depth', () => {
    const anything = fc.dictionary(
      fc.oneof(
        fc.string(),
        fc.constantFrom('constructor', 'prototype', 'toString', 'then', 'length'),
      ),
      fc.jsonValue({ maxDepth: 3 }),
    );
    fc.assert(
      fc.property(anything, (free) => {
        fc.pre(!JSON.stringify(free).includes('__proto__'));
        const body = {
          free,
          step: { name: 'aa', parameters: free },
          steps: [{ name: 'bb', parameters: free }],
        };
        expect(transform(body)).toEqual(body);
      }),
    );
  });

  it('creates instances of known shapes', () => {
    const body = transform({ step: { name: 'aa' }, steps: [{ name: 'bb' }] }) as BodyDto;
    expect(body).toBeInstanceOf(BodyDto);
    expect(body.step).toBeInstanceOf(StepDto);
    expect(body.steps?.[0]).toBeInstanceOf(StepDto);
  });

  it.each<[object, string[]]>([
    [{ free: [] }, ['free']],
    [{ free: null }, ['free']],
    [{ free: 'x' }, ['free']],
    [{ free: [{ constructor: 1 }] }, ['free']],
    [{ step: [] }, ['step']],
    [{ step: [{ name: 'aa' }] }, ['step']],
    [{ step: { name: 'aa', parameters: [] } }, ['step.parameters']],
    [{ steps: { name: 'aa' } }, ['steps']],
    [{ steps: [[{ name: 'aa' }]] }, ['steps.0']],
    [{ steps: [{ name: 'aa' }, null, 'b'] }, ['steps.1']],
    [{ steps: [{ name: 'aa' }, { name: 2 }] }, ['steps.1.name']],
    [{ steps: [{ name: 'aa', other: 1 }] }, ['steps.0.other']],
    [{ tags: [{ constructor: 1 }] }, ['tags']],
    [{ constructor: 1 }, ['constructor']],
    [{ toString: {}, hasOwnProperty: [] }, ['toString', 'hasOwnProperty']],
    [{ step: { name: 'aa', constructor: {} } }, ['step.constructor']],
    [{ steps: [{ name: 'aa' }, { name: 'aa', valueOf: 1 }] }, ['steps.1.valueOf']],
    [{ other: { constructor: 1 } }, ['other']],
    [{ other: [{ a: { constructor: {} } }] }, ['other']],
  ])('rejects %j and names the fields %j', (body, fields) => {
    expect(errorsOf(body).map(({ field }) => field)).toEqual(fields);
  });
});

describe('an id in a path', () => {
  const read = (value: string): unknown =>
    pipe.transform(value, { type: 'param', metatype: String, data: 'id' });

  it('is converted to lower case', () => {
    const id = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';
    expect(read(id)).toBe(id);
    expect(read(id.toUpperCase())).toBe(id);
  });

  it.each(['Swagger-UI.css', 'ABC', ''])('stays unchanged if it is not a UUID: %j', (text) => {
    expect(read(text)).toBe(text);
  });
});

describe('the errors of a field', () => {
  it('report once that an absent field is required', () => {
    const missing = { code: 'required', message: 'name is required.' };
    expect(errorsOf({}, StepDto)).toEqual([{ field: 'name', ...missing }]);
    expect(errorsOf({ step: {}, steps: [{ name: 'aa' }, {}] })).toEqual([
      { field: 'step.name', code: 'required', message: 'step.name is required.' },
      { field: 'steps.1.name', code: 'required', message: 'steps.1.name is required.' },
    ]);
  });

  it.each([7, null, [], {}])('report only the expected type for %j', (name) => {
    expect(errorsOf({ name }, StepDto)).toEqual([
      { field: 'name', code: 'is_string', message: 'name must be a string.' },
    ]);
  });

  it('report all violations of a value of the right type', () => {
    const codes = errorsOf({ name: '7777' }, StepDto).map(({ code }) => code);
    expect(codes.sort()).toEqual(['is_length', 'matches']);
  });
});

describe('the errors of a request', () => {
  it('report unknown fields together with the other errors', () => {
    expect(errorsOf({ other: 1, step: { more: 1 } })).toEqual([
      { field: 'other', code: 'unknown_field', message: 'other is not a known field.' },
      { field: 'step.more', code: 'unknown_field', message: 'step.more is not a known field.' },
      { field: 'step.name', code: 'required', message: 'step.name is required.' },
    ]);
  });

  it('call an unknown field of a query a query parameter', () => {
    const errors = errorsOf({ name: 'aa', other: '1' }, StepDto, 'query');
    expect(errors.map(({ message }) => message)).toEqual(['other is not a known query parameter.']);
  });

  it.each<[string, (length: number) => object]>([
    [
      'unknown fields',
      (length) => Object.fromEntries(Array.from({ length }, (_, i) => [`k${i}`, 1])),
    ],
    ['items', (length) => ({ steps: Array.from({ length }, () => ({})) })],
    ['items of another kind', (length) => ({ steps: Array<null>(length).fill(null) })],
  ])('are found in linear time in a body full of %s', async (_, make) => {
    expect(errorsOf(make(80_000)).length).toBeGreaterThan(0);
    expect(await cost((length) => errorsOf(make(length)), 80_000)).toBeLessThan(LINEAR);
  });

  it('do not split a character of a long field name', () => {
    const [error] = errorsOf({ [`${'x'.repeat(99)}😀`]: 1 });
    expect(error?.field).toBe(`${'x'.repeat(99)}\ufffd`);
  });

  it('are not much longer than the request', () => {
    const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 1]));
    expect(errorsOf(unknown)).toHaveLength(100);
    const [error] = errorsOf({ ['x'.repeat(1_000_000)]: 1 });
    expect(error).toEqual({
      field: 'x'.repeat(100),
      code: 'unknown_field',
      message: `${'x'.repeat(100)} is not a known field.`,
    });
  });
});

class Named {
  @IsString()
  @MaxLength(5)
  readonly name!: unknown;
}

class Owned extends Named {
  @IsString()
  readonly owner!: unknown;
}

const objectOf = <T extends object>(type: new () => T, values: object): T =>
  Object.assign(new type(), values);

async function broken(object: object): Promise<string[]> {
  const failures = await validate(object);
  return failures.flatMap(({ property, constraints }) =>
    Object.keys(constraints ?? {}).map((rule) => `${property} ${rule}`),
  );
}

describe('cached validation rules', () => {
  it('apply own and inherited rules to every object of a class', async () => {
    for (let time = 0; time < 3; time += 1) {
      expect(await broken(objectOf(Named, { name: 'far too long' }))).toEqual(['name maxLength']);
      expect(await broken(objectOf(Named, { name: 'short' }))).toEqual([]);
      expect(await broken(objectOf(Owned, { name: 'far too long', owner: 1 }))).toEqual([
        'owner isString',
        'name maxLength',
      ]);
    }
  });

  it('are looked up once per class', () => {
    const storage = getMetadataStorage();
    const ofNamed = () => storage.getTargetValidationMetadatas(Named, '', false, false);
    expect(ofNamed()).toBe(ofNamed());
    expect(storage.groupByPropertyName(ofNamed())).toBe(storage.groupByPropertyName(ofNamed()));
  });
});
