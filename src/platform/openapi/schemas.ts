import type {
  OpenAPIObject,
  OperationObject,
  ReferenceObject,
  SchemaObject,
} from '@nestjs/swagger';
import { NULL_IS_ABSENT_EXTENSION } from '../validation/json-shield.js';

const METHODS = ['get', 'post', 'put', 'delete'] as const;

interface PlacedOperation {
  readonly path: string;
  readonly method: (typeof METHODS)[number];
  readonly operation: OperationObject;
}

/** Every operation of the document, with where it stands: the one place that knows which methods there are. */
export function operationsOf({ paths }: OpenAPIObject): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ path, method, operation }] : [];
    }),
  );
}

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Returns the schema name of a word: `isolate_host` is `IsolateHost`. */
export const pascal = (name: string) =>
  name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Returns the schema of one field of a class, for a schema that no class describes. */
export function propertySchema(type: new () => object, name: string): SchemaObject {
  const said: unknown = Reflect.getMetadata(PROPERTIES, type.prototype as object, name);
  const { isArray, enumName, ...schema } = { ...(said as Record<string, unknown>) };
  delete schema.required;
  if (typeof enumName === 'string') return wordsSchema(schema, ref(enumName), Boolean(isArray));
  if (typeof schema.type !== 'string' || isArray) throw new Error(`${name} is no plain field.`);
  return schema;
}

function wordsSchema(schema: SchemaObject, words: ReferenceObject, isArray: boolean): SchemaObject {
  if (isArray) return { ...schema, items: words };
  const said = { ...schema, allOf: [words] };
  delete said.type;
  delete said.enum;
  return said;
}

/** Key under which Nest stores the metadata of a property. */
const PROPERTIES = 'swagger/apiModelProperties';

const REFERENCE = /"#\/components\/schemas\/(\w+)"/g;

/**
 * Documents the validation of request bodies: undocumented fields are rejected, missing fields have defaults, and a PUT needs at
 * least one field.
 */
export function describeRequestBodies(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, SchemaObject>;
  for (const schema of Object.values(schemas)) describeNulls(schema);
  for (const item of Object.values(document.paths)) {
    for (const [method, operation] of Object.entries({ put: item.put, post: item.post })) {
      const names = operation?.requestBody ? referredTo(operation.requestBody) : [];
      const [body] = names.map((name) => schemas[name]);
      if (method === 'put' && body?.properties && !body.required?.length) body.minProperties = 1;
      describeSent(names, schemas, new Set());
    }
  }
}

function describeSent(
  names: readonly string[],
  schemas: Readonly<Record<string, SchemaObject>>,
  seen: Set<string>,
): void {
  for (const name of names) {
    const schema = schemas[name];
    if (!schema || seen.has(name)) continue;
    seen.add(name);
    if (schema.properties && !schema.allOf) schema.additionalProperties ??= false;
    for (const property of Object.values(schema.properties ?? {})) sayDefault(property);
    describeSent(referredTo(schema), schemas, seen);
  }
}

type WithNulls = SchemaObject & { [NULL_IS_ABSENT_EXTENSION]?: true };

/** Documents the fields whose null means that the field is absent (`NullIsAbsent`). */
function describeNulls(schema: WithNulls): void {
  if (!schema[NULL_IS_ABSENT_EXTENSION]) return;
  delete schema[NULL_IS_ABSENT_EXTENSION];
  const required = new Set(schema.required);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (required.has(name)) continue;
    const described = '$ref' in property ? { allOf: [property] } : property;
    const said = described.type ? { nullable: true } : { 'x-nullable': true };
    schema.properties![name] = { ...described, ...said };
  }
}

/**
 * Moves a default into the description. With the keyword `default` a TypeScript generator makes the field required, and others
 * send it with every request.
 */
function sayDefault(property: SchemaObject | ReferenceObject): void {
  if (!('default' in property)) return;
  const { description } = property;
  const value: unknown = property.default;
  const words = `Default: \`${typeof value === 'string' ? value : JSON.stringify(value)}\`.`;
  property.description = [description, words].filter(Boolean).join(' ');
  delete property.default;
}

/** Returns the referenced names in order of appearance; the name of the body itself is the first. */
function referredTo(value: unknown): string[] {
  return [...JSON.stringify(value).matchAll(REFERENCE)].map(([, name]) => name ?? '');
}

const ENVELOPE = /"#\/components\/schemas\/(\w+?)(Envelope|List|Catalogue)"/g;

/** Envelope schemas, by the suffix of their names. */
const ENVELOPES: Readonly<Record<string, (item: string) => SchemaObject>> = {
  Envelope: (item) => objectOf({ data: ref(item) }),
  List: (item) => objectOf({ data: arrayOf(item), meta: ref('ListMeta') }),
  Catalogue: (item) => objectOf({ data: arrayOf(item) }),
};

/** Adds a component for every envelope that a response refers to. */
export function addEnvelopes(document: OpenAPIObject): void {
  const schemas = (document.components ??= {}).schemas ?? {};
  for (const [, name, kind] of JSON.stringify(document.paths).matchAll(ENVELOPE)) {
    if (!name || !kind || schemas[`${name}${kind}`]) continue;
    const item = schemas[`${name}Dto`] ? `${name}Dto` : name;
    if (!schemas[item]) throw new Error(`No schema ${item} for ${name}${kind}.`);
    schemas[`${name}${kind}`] = ENVELOPES[kind]!(item);
  }
}

const arrayOf = (item: string): SchemaObject => ({ type: 'array', items: ref(item) });

const objectOf = (properties: Record<string, SchemaObject | ReferenceObject>): SchemaObject => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
  additionalProperties: false,
});

const SUFFIX = /Dto$/;

/** Removes `Dto` from schema names, so that generated clients do not show it. */
export function nameSchemas(document: OpenAPIObject): OpenAPIObject {
  const names = Object.keys(document.components?.schemas ?? {});
  const renamed = new Map(names.map((name) => [name, name.replace(SUFFIX, '')]));
  if (new Set(renamed.values()).size < names.length) {
    throw new Error('Two schemas have the same name but for Dto.');
  }
  const text = JSON.stringify(document).replace(
    REFERENCE,
    (_, name: string) => `"#/components/schemas/${renamed.get(name) ?? name}"`,
  );
  const result = JSON.parse(text) as OpenAPIObject;
  const schemas = Object.entries(result.components?.schemas ?? {});
  result.components = {
    ...result.components,
    schemas: Object.fromEntries(
      schemas.map(([name, schema]) => [renamed.get(name)!, schema] as const),
    ),
  };
  return result;
}

/** Text without NUL, which PostgreSQL cannot store. All languages support this pattern. */
const WITHOUT_NUL = '^[^\\x00]*$';

type Json = Record<string, unknown>;

/** Keywords that already restrict a text. Existing patterns exclude NUL. */
const SAYS_MORE = ['pattern', 'format', 'enum', 'x-extensible-enum'];
/** Keys whose contents are values, not schemas. */
const VALUES = new Set(['example', 'examples', 'default', 'enum', 'x-extensible-enum']);

/** The format `password` does not restrict the characters. */
const saysMore = (part: Json): boolean =>
  SAYS_MORE.some((key) => key in part && part[key] !== 'password');

/** Documents that texts in bodies and queries must not contain NUL. */
export function leaveOutNul(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Readonly<Record<string, Json>>;
  const seen = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const part = value as Json;
    if (typeof part['$ref'] === 'string') {
      const name = part['$ref'].replace('#/components/schemas/', '');
      if (seen.has(name)) return;
      seen.add(name);
      return visit(schemas[name]);
    }
    if (part['type'] === 'string' && !saysMore(part)) part['pattern'] = WITHOUT_NUL;
    for (const [key, child] of Object.entries(part)) if (!VALUES.has(key)) visit(child);
  };
  for (const { operation } of operationsOf(document)) {
    visit(operation.requestBody);
    // Pages, health and webhooks ignore their query.
    if (!operation.security?.length) continue;
    for (const parameter of operation.parameters ?? []) {
      if ('in' in parameter && parameter.in === 'query') visit(parameter.schema);
    }
  }
}

/**
 * Sorts the keys of every object, so that the committed document changes only with its content. Examples keep their order,
 * because tools show the first one.
 */
export function sorted<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => sorted(item as unknown)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, child]) => child !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [
        key,
        key === 'required' && Array.isArray(child)
          ? (child as unknown[]).toSorted()
          : key === 'examples'
            ? (child as unknown)
            : sorted(child as unknown),
      ]),
  ) as T;
}
