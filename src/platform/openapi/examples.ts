import type { OpenAPIObject, ReferenceObject, SchemaObject } from '@nestjs/swagger';
import { ERROR_CATALOGUE, type ErrorCode } from '../errors/error-catalogue.js';

type Schema = SchemaObject | ReferenceObject;
type Schemas = Readonly<Record<string, Schema>>;

interface MediaType {
  schema?: Schema;
  example?: unknown;
  examples?: unknown;
}

/** Gives every body of the document an example, put together from those of its properties. */
export function addExamples(document: OpenAPIObject): void {
  const components = (document.components ??= {});
  const schemas = components.schemas ?? {};
  components.examples = errorExamplesIn(document);
  for (const media of bodiesOf(document.paths)) {
    if (media.example !== undefined || media.examples !== undefined || !media.schema) continue;
    const example = exampleOf(media.schema, schemas);
    if (example !== undefined) media.example = example;
  }
}

/** The bodies within a part of the document: whatever stands under a key `content`. */
function* bodiesOf(value: unknown): Generator<MediaType> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === 'content') yield* Object.values(child as Record<string, MediaType>);
    else yield* bodiesOf(child);
  }
}

/** Undefined where the schema has nothing to make an example of. */
export function exampleOf(schema: Schema, schemas: Schemas): unknown {
  if ('$ref' in schema) {
    const target = schemas[schema.$ref.replace('#/components/schemas/', '')];
    return target && exampleOf(target, schemas);
  }
  if (schema.example !== undefined) return schema.example as unknown;
  const variant = schema.oneOf?.[0] ?? schema.anyOf?.[0];
  if (variant) return exampleOf(variant, schemas);
  if (schema.enum) return schema.enum[0] as unknown;
  if (schema.type === 'array') return arrayExample(schema, schemas);
  const inherited = (schema.allOf ?? []).map((part) => exampleOf(part, schemas));
  if (schema.properties) {
    return Object.assign({}, ...inherited, propertyExamples(schema, schemas)) as unknown;
  }
  if (inherited.length > 1) return Object.assign({}, ...inherited) as unknown;
  return inherited[0] ?? (schema.type === 'object' ? {} : undefined);
}

function arrayExample(schema: SchemaObject, schemas: Schemas): unknown[] {
  const item = schema.items && exampleOf(schema.items, schemas);
  return item === undefined ? [] : [item];
}

function propertyExamples(schema: SchemaObject, schemas: Schemas): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema.properties ?? {})
      .map(([name, property]) => [name, exampleOf(property, schemas)] as const)
      .filter(([, example]) => example !== undefined),
  );
}

const EXAMPLES = '#/components/examples/';
const REQUEST_ID = '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e';

const BAD_SEVERITY = 'severity must be one of the following values: low, medium, high, critical.';

const WEAK_PASSWORD =
  'password is too easy to guess: it is a common password, or made of common words and patterns.';

const EXTRAS: Partial<Record<ErrorCode, Readonly<Record<string, unknown>>>> = {
  validation_error: {
    message: BAD_SEVERITY,
    details: { errors: [{ field: 'severity', code: 'is_in', message: BAD_SEVERITY }] },
  },
  weak_password: {
    message: WEAK_PASSWORD,
    details: { errors: [{ field: 'password', code: 'weak_password', message: WEAK_PASSWORD }] },
  },
  forbidden: {
    message: 'This needs the role admin or one above it.',
    details: { required_role: 'admin' },
  },
  insufficient_approval_level: { required_level: 'manager', your_level: 'analyst' },
  kill_switch_active: {
    details: {
      reason: 'Wrong hosts are being isolated.',
      activated_by: 'alice',
      activated_at: '2026-01-31T09:30:00.000Z',
    },
  },
  triage_in_progress: {
    message: 'A triage run of the incident is running.',
    details: { triage_id: '0193f2b6-9a44-7c1e-8a0b-9f4e2f0a7b6c', status: 'running' },
  },
  ai_unavailable: { details: { reason: 'timeout' } },
};

const errorExample = (code: ErrorCode) => ({
  error: { code, message: ERROR_CATALOGUE[code].meaning, request_id: REQUEST_ID, ...EXTRAS[code] },
});

/** What the errors of an operation refer to: one example of each code. */
export const errorExamples = (codes: readonly ErrorCode[]) =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `${EXAMPLES}${code}` }]));

function errorExamplesIn(document: OpenAPIObject): Record<string, { value: unknown }> {
  const paths = JSON.stringify(document.paths);
  const used = (Object.keys(ERROR_CATALOGUE) as ErrorCode[]).filter((code) =>
    paths.includes(`"${EXAMPLES}${code}"`),
  );
  return Object.fromEntries(used.map((code) => [code, { value: errorExample(code) }]));
}
