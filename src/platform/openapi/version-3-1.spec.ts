import { toOpenApi31 } from './version-3-1.js';

type Parts = Readonly<Record<string, unknown>>;

/** What becomes of one schema of the components. */
function converted(schema: object): unknown {
  const { components } = toOpenApi31({ openapi: '3.0.3', components: { schemas: { A: schema } } });
  return (components as { schemas: Parts }).schemas['A'];
}

describe('toOpenApi31', () => {
  it.each<[string, object, object]>([
    ['null among the types', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      'null among the values of an enum',
      { type: 'string', enum: ['a'], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      'null once, where the enum has it already',
      { type: 'string', enum: ['a', null], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      'null beside a reference',
      { allOf: [{ $ref: '#/x' }], 'x-nullable': true, description: 'd' },
      { description: 'd', anyOf: [{ $ref: '#/x' }, { type: 'null' }] },
    ],
    [
      'null beside values without a type',
      { enum: [1], nullable: true },
      { anyOf: [{ enum: [1] }, { type: 'null' }] },
    ],
    ['no null', { type: 'string', nullable: false }, { type: 'string' }],
    [
      'a limit that is a number',
      { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: true },
      { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 9 },
    ],
    [
      'the limits that include',
      { type: 'number', minimum: 0, exclusiveMinimum: false, maximum: 9 },
      { type: 'number', minimum: 0, maximum: 9 },
    ],
    ['examples', { type: 'string', example: 'a' }, { type: 'string', examples: ['a'] }],
    ['an example that is false', { example: false }, { examples: [false] }],
    [
      'the encoding of bytes',
      { type: 'string', format: 'byte' },
      { type: 'string', contentEncoding: 'base64' },
    ],
    [
      'alternatives, with those inside them',
      { 'x-alternatives': [{ type: 'string' }, { items: { 'x-alternatives': [{}] } }] },
      { oneOf: [{ type: 'string' }, { items: { oneOf: [{}] } }] },
    ],
    ['no schema for a body of bytes', { type: 'string', format: 'binary' }, {}],
  ])('says %s in the words of 3.1', (_what, before, after) => {
    expect(converted(before)).toEqual(after);
  });

  const NULLABLE = { type: 'string', nullable: true };
  const CONVERTED = { type: ['string', 'null'] };

  it.each<[string, (schema: object) => object]>([
    ['properties', (schema) => ({ properties: { a: schema } })],
    ['items', (schema) => ({ items: schema })],
    ['additionalProperties', (schema) => ({ additionalProperties: schema })],
    ['not', (schema) => ({ not: schema })],
    ['allOf', (schema) => ({ allOf: [schema] })],
    ['oneOf in anyOf', (schema) => ({ anyOf: [{ oneOf: [schema] }] })],
  ])('converts the schemas in %s', (_where, inside) => {
    expect(converted(inside(NULLABLE))).toEqual(inside(CONVERTED));
  });

  it('takes properties that are called like keywords for properties', () => {
    const named = (schema: object) => ({
      properties: { example: schema, nullable: schema, schema, exclusiveMinimum: schema },
    });
    expect(converted(named(NULLABLE))).toEqual(named(CONVERTED));
  });

  it('leaves values alone, whatever is in them', () => {
    const value = { schema: { nullable: true, type: 'string' }, example: 1 };
    const schema = { enum: [value], default: value, additionalProperties: false };
    expect(converted(schema)).toEqual(schema);
    const media = { example: value, examples: { one: { value } }, 'x-own': value };
    const document = {
      paths: { '/a': { get: { responses: { 200: { content: { b: media } } } } } },
    };
    expect(toOpenApi31(document)['paths']).toEqual(document.paths);
  });

  it('converts the schemas of parameters, headers, bodies and answers, shared or not', () => {
    const of = (schema: object) => {
      const content = { 'application/json': { schema } };
      const answer = { headers: { 'X-A': { schema } }, content };
      const parameters = [{ name: 'a', in: 'query', schema }];
      const operation = { parameters, requestBody: { content }, responses: { default: answer } };
      return {
        paths: { '/a': { post: operation } },
        components: {
          parameters: { A: parameters[0] },
          responses: { A: answer },
          requestBodies: { A: { content } },
          headers: { A: { schema } },
        },
      };
    };
    const { paths, components } = toOpenApi31(of(NULLABLE));
    expect(paths).toEqual(of(CONVERTED).paths);
    expect(components).toMatchObject(of(CONVERTED).components);
  });

  it('does not change the document that it is made of', () => {
    const document = { openapi: '3.0.3', components: { schemas: { A: { ...NULLABLE } } } };
    const before = JSON.stringify(document);
    toOpenApi31(document);
    expect(JSON.stringify(document)).toBe(before);
  });

  it('makes a webhook of each schema that is marked as an event, and none without one', () => {
    const schemas = {
      Thing: { type: 'object' },
      IncidentCreated: {
        type: 'object',
        description: 'It is new.',
        'x-webhook': 'incident.created',
      },
    };
    const { webhooks } = toOpenApi31({ openapi: '3.0.3', components: { schemas } });
    expect(webhooks).toEqual({
      'incident.created': {
        post: expect.objectContaining({
          operationId: 'onIncidentCreated',
          description: 'It is new.',
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/IncidentCreated' } },
            },
          },
        }),
      },
    });
    expect(toOpenApi31({ openapi: '3.0.3', paths: {} })).not.toHaveProperty('webhooks');
  });
});
