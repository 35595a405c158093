/*
 * The contract in OpenAPI 3.1, made of the one in 3.0 when the service starts. The document that is committed, compared and
 * tested is the one in 3.0, which every generator reads; this one says the same in the words of JSON Schema 2020-12:
 *
 * - `nullable: true` becomes `null` among the types, and among the values of an enum
 * - `exclusiveMinimum: true` beside `minimum: 0` becomes `exclusiveMinimum: 0`; the maximum likewise
 * - the `example` of a schema becomes `examples: [...]`; those of parameters and bodies stay as they are
 * - `format: byte` becomes `contentEncoding: base64`; a body of `format: binary` has no schema of its own, since its
 *   media type says all
 * - schemas that are marked with `x-webhook` become the bodies of `webhooks`, which 3.0 has no place for
 *
 * Nothing else differs between the versions in what this contract uses. It imports nothing, so that scripts can read it.
 */

type Json = Readonly<Record<string, unknown>>;

/** On the schema of an event that the service sends to others: the name of the event. */
export const WEBHOOK_EXTENSION = 'x-webhook';

export function toOpenApi31(document: Json): Json {
  const { components = {}, ...rest } = document;
  const { schemas = {}, ...others } = components as Json;
  const webhooks = webhooksOf(schemas as Json);
  return {
    ...(convertSchemasIn(rest) as Json),
    openapi: '3.1.1',
    components: {
      ...(convertSchemasIn(others) as Json),
      schemas: mapValues(schemas as Json, convertSchema),
    },
    ...(Object.keys(webhooks).length > 0 && { webhooks }),
  };
}

/** Values, whose keys are nobody's keywords. */
const VALUES = new Set(['example', 'examples']);

/** A part of the document that is no schema, with the schemas in it converted. */
function convertSchemasIn(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(convertSchemasIn);
  if (!isObject(part)) return part;
  return mapValues(part, (child, key) => {
    if (key === 'schema') return convertSchema(child);
    return VALUES.has(key) || key.startsWith('x-') ? child : convertSchemasIn(child);
  });
}

/** What is in a schema a schema, many by name, or a list of them. */
const NESTED: Readonly<Record<string, (value: unknown) => unknown>> = {
  items: convertSchema,
  not: convertSchema,
  additionalProperties: convertSchema,
  properties: (value) => mapValues(value as Json, convertSchema),
  allOf: (value) => (value as unknown[]).map(convertSchema),
  anyOf: (value) => (value as unknown[]).map(convertSchema),
  oneOf: (value) => (value as unknown[]).map(convertSchema),
};

/** `additionalProperties` may also be true or false, which stays. */
function convertSchema(schema: unknown): unknown {
  if (!isObject(schema) || '$ref' in schema) return schema;
  const nested = mapValues(schema, (value, key) =>
    Object.hasOwn(NESTED, key) ? NESTED[key]!(value) : value,
  );
  return withNull(withEncoding(withLimits(withExamples(nested))));
}

function withExamples({ example, ...schema }: Json): Json {
  return example === undefined ? schema : { ...schema, examples: [example] };
}

function withLimits({ exclusiveMinimum, exclusiveMaximum, ...schema }: Json): Json {
  const { minimum, maximum, ...rest } = schema;
  const lower = exclusiveMinimum === true ? { exclusiveMinimum: minimum } : { minimum };
  const upper = exclusiveMaximum === true ? { exclusiveMaximum: maximum } : { maximum };
  return { ...rest, ...defined({ ...lower, ...upper }) };
}

function withEncoding(schema: Json): Json {
  if (schema['format'] === 'binary')
    return defined({ ...schema, type: undefined, format: undefined });
  if (schema['format'] !== 'byte') return schema;
  return defined({ ...schema, format: undefined, contentEncoding: 'base64' });
}

function withNull({ nullable, ...schema }: Json): Json {
  if (nullable !== true) return schema;
  const { type, enum: values, description, ...rest } = schema;
  // In 3.0 a schema without a type of its own, such as one that only refers to another, is no less nullable than meant.
  if (typeof type !== 'string') {
    const other = { ...rest, ...defined({ enum: values }) };
    return { ...defined({ description }), anyOf: [other, { type: 'null' }] };
  }
  const known = values as readonly unknown[] | undefined;
  const withNullValue = known?.includes(null) ? known : known?.concat(null);
  return { ...schema, type: [type, 'null'], ...defined({ enum: withNullValue }) };
}

/** What a receiver verifies a webhook by: Standard Webhooks. */
const SIGNATURE = [
  ['webhook-id', 'The id of the event, the same in every attempt.'],
  ['webhook-timestamp', 'When this attempt was made, in seconds since 1970.'],
  [
    'webhook-signature',
    'Each signature as `v1,` and base64; while a secret is changed there are two.',
  ],
].map(([name, description]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
}));

/** One webhook for each schema that is marked: the service sends it as JSON, and any 2xx is enough of an answer. */
function webhooksOf(schemas: Json): Json {
  const marked = Object.entries(schemas).flatMap(([schema, definition]) => {
    const { [WEBHOOK_EXTENSION]: event, description } = definition as Json;
    return typeof event === 'string' ? [{ schema, event, description }] : [];
  });
  return Object.fromEntries(
    marked.map(({ schema, event, description }) => [
      event,
      {
        post: {
          operationId: `on${schema}`,
          summary: event,
          ...defined({ description }),
          // What the receiver asks of the service is between the two of them.
          security: [],
          parameters: SIGNATURE,
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
          },
          responses: {
            '2XX': { description: 'The receiver has it. Anything else is tried again.' },
          },
        },
      },
    ]),
  );
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues(object: Json, change: (value: unknown, key: string) => unknown): Json {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(value, key)]),
  );
}

function defined(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
