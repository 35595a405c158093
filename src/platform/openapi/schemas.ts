import type { OpenAPIObject, ReferenceObject, SchemaObject } from '@nestjs/swagger';

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** The name of the schema of something of ours: `isolate_host` is `IsolateHost`. */
export const pascal = (name: string) =>
  name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** What the decorators of a class say of one of its fields, for a schema that no class describes. */
export function propertySchema(type: new () => object, name: string): SchemaObject {
  const said: unknown = Reflect.getMetadata(PROPERTIES, type.prototype as object, name);
  const { isArray, enumName, ...schema } = { ...(said as Record<string, unknown>) };
  delete schema.required;
  if (typeof enumName === 'string') return wordsSchema(schema, ref(enumName), Boolean(isArray));
  if (typeof schema.type !== 'string' || isArray) throw new Error(`${name} is no plain field.`);
  return schema;
}

/** Words of a set that has a name. */
function wordsSchema(schema: SchemaObject, words: ReferenceObject, isArray: boolean): SchemaObject {
  if (isArray) return { ...schema, items: words };
  const said = { ...schema, allOf: [words] };
  delete said.type;
  delete said.enum;
  return said;
}

/** Where Nest keeps it. */
const PROPERTIES = 'swagger/apiModelProperties';

/* What is done to the schemas of the document that Nest makes, step by step. */

const REFERENCE = /"#\/components\/schemas\/(\w+)"/g;

/**
 * Says of the bodies that a client sends what validation does with them: it refuses other fields than the documented ones,
 * takes a default for what is left out, and a PUT, which may leave out any field, has to give at least one.
 */
export function describeRequestBodies(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, SchemaObject>;
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

/**
 * As a sentence, not by the keyword: a generator of TypeScript takes what has a default for what is always there, and then
 * everybody has to send it; others send it with every request.
 */
function sayDefault(property: SchemaObject | ReferenceObject): void {
  if (!('default' in property)) return;
  const { description } = property;
  const value: unknown = property.default;
  const words = `Default: \`${typeof value === 'string' ? value : JSON.stringify(value)}\`.`;
  property.description = [description, words].filter(Boolean).join(' ');
  delete property.default;
}

/** The names in the order in which they appear: that of a body itself is the first. */
function referredTo(value: unknown): string[] {
  return [...JSON.stringify(value).matchAll(REFERENCE)].map(([, name]) => name ?? '');
}

const ENVELOPE = /"#\/components\/schemas\/(\w+?)(Envelope|List|Catalogue)"/g;

/** By the ends of their names. */
const ENVELOPES: Readonly<Record<string, (item: string) => SchemaObject>> = {
  Envelope: (item) => objectOf({ data: ref(item) }),
  List: (item) => objectOf({ data: arrayOf(item), meta: ref('ListMeta') }),
  Catalogue: (item) => objectOf({ data: arrayOf(item) }),
};

/** Makes a named component of every envelope that an answer refers to. */
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

/** Takes `Dto` off the names of schemas: those who generate a client need not know that a class of ours makes them. */
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

/**
 * The same value with the keys of every object in order, so that the committed document changes only by content. Examples
 * are in the order of their author: tools show the first, and answers have their fields in an order that people can read.
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
