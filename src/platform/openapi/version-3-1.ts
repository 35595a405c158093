/*
 * Converts the contract from OpenAPI 3.0 to 3.1 when the service starts. The 3.0 document is committed, compared and tested,
 * because every generator reads it. The 3.1 document has the same content in JSON Schema 2020-12:
 *
 * - `nullable: true` becomes `null` among the types, and among the values of an enum; so does `x-nullable` beside a
 *   reference, where 3.0 gives `nullable` no meaning
 * - `exclusiveMinimum: true` beside `minimum: 0` becomes `exclusiveMinimum: 0`; the maximum likewise
 * - the `example` of a schema becomes `examples: [...]`; those of parameters and bodies stay as they are
 * - `format: byte` becomes `contentEncoding: base64`; a body of `format: binary` has no schema of its own, since its
 *   media type says all
 * - `x-alternatives` becomes `oneOf`: in 3.0 some generators make code that does not compile of a choice with a list in it
 * - schemas that are marked with `x-webhook` become the bodies of `webhooks`, which 3.0 has no place for
 *
 * Nothing else differs between the versions in what this contract uses. It imports nothing, so that scripts can read it.
 */

type Json = Readonly<Record<string, unknown>>;

/** Marks the schema of an event that the service sends, with the name of the event. */
export const WEBHOOK_EXTENSION = 'x-webhook';

/** On a schema without a type in 3.0: the schemas of which a value fits exactly one. */
export const ALTERNATIVES = 'x-alternatives';

/** Marks a field that refers to another schema and may be null. OpenAPI Generator reads it. */
export const NULLABLE_REFERENCE = 'x-nullable';

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

/** Keys whose contents are values, not schemas. */
const VALUES = new Set(['example', 'examples']);

/** Converts all schemas in a part of the document that is not a schema itself. */
function convertSchemasIn(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(convertSchemasIn);
  if (!isObject(part)) return part;
  return mapValues(part, (child, key) => {
    if (key === 'schema') return convertSchema(child);
    return VALUES.has(key) || key.startsWith('x-') ? child : convertSchemasIn(child);
  });
}

/** Keywords that hold schemas: one, several by name, or a list. */
const NESTED: Readonly<Record<string, (value: unknown) => unknown>> = {
  items: convertSchema,
  not: convertSchema,
  additionalProperties: convertSchema,
  properties: (value) => mapValues(value as Json, convertSchema),
  allOf: (value) => (value as unknown[]).map(convertSchema),
  anyOf: (value) => (value as unknown[]).map(convertSchema),
  oneOf: (value) => (value as unknown[]).map(convertSchema),
  [ALTERNATIVES]: (value) => (value as unknown[]).map(convertSchema),
};

/** Returns booleans, such as `additionalProperties: false`, unchanged. */
function convertSchema(schema: unknown): unknown {
  if (!isObject(schema) || '$ref' in schema) return schema;
  const nested = mapValues(schema, (value, key) =>
    Object.hasOwn(NESTED, key) ? NESTED[key]!(value) : value,
  );
  return withNull(withEncoding(withLimits(withExamples(withAlternatives(nested)))));
}

function withAlternatives({ [ALTERNATIVES]: oneOf, ...schema }: Json): Json {
  return oneOf === undefined ? schema : { ...schema, oneOf };
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

function withNull({ nullable, [NULLABLE_REFERENCE]: nullableReference, ...schema }: Json): Json {
  if (nullableReference === true) {
    const { allOf, ...rest } = schema;
    return { ...rest, anyOf: [...(allOf as unknown[]), { type: 'null' }] };
  }
  if (nullable !== true) return schema;
  const { type, enum: values, description, ...rest } = schema;
  if (typeof type !== 'string') {
    const other = { ...rest, ...defined({ enum: values }) };
    return { ...defined({ description }), anyOf: [other, { type: 'null' }] };
  }
  const known = values as readonly unknown[] | undefined;
  const withNullValue = known?.includes(null) ? known : known?.concat(null);
  return { ...schema, type: [type, 'null'], ...defined({ enum: withNullValue }) };
}

/** Headers by which a receiver verifies a webhook (Standard Webhooks). */
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

/** Makes a webhook of each marked schema. The service sends it as JSON and accepts any 2xx. */
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
          // Each receiver has its own authentication.
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
