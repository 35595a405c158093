import type {
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  SchemaObject,
} from '@nestjs/swagger';
import { NULL_IS_ABSENT_EXTENSION } from '../../src/platform/validation/fields.js';
import { ref } from '../../src/platform/openapi/answers.js';

const METHODS = ['get', 'post', 'put', 'delete'] as const;

interface PlacedOperation {
  readonly path: string;
  readonly method: (typeof METHODS)[number];
  readonly operation: OperationObject;
}

/** Returns every operation of the document with its path and method. */
export function operationsOf({ paths }: OpenAPIObject): PlacedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ path, method, operation }] : [];
    }),
  );
}

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
 * Moves a default into the description. With the keyword `default`, a TypeScript generator makes the field required,
 * and other generators send it with every request.
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

/** Schemas of envelopes, by the suffix of their names. */
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

type Schema = SchemaObject & Readonly<Record<string, unknown>>;
type Schemas = Record<string, SchemaObject | ReferenceObject>;

/** Keywords that may differ at each place that uses a schema. */
const SAID_ON_THE_SPOT = ['description', 'example', 'default'];

/**
 * Makes a component of every schema with a title, and replaces the schema by a reference. Otherwise, generators invent
 * names and create one type per place.
 */
export function nameTitled(document: OpenAPIObject): void {
  const schemas: Schemas = ((document.components ??= {}).schemas ??= {});
  const found: Schemas = {};
  for (const [name, schema] of Object.entries(schemas)) schemas[name] = inside(schema, found);
  document.paths = inside(document.paths, found);
  for (const parameter of parametersOf(document)) sayBeside(parameter);
  for (const [name, schema] of Object.entries(found)) {
    if (schemas[name]) throw new Error(`Two schemas are called ${name}.`);
    schemas[name] = schema;
  }
}

function parametersOf(document: OpenAPIObject): ParameterObject[] {
  return operationsOf(document)
    .flatMap(({ operation }) => operation.parameters ?? [])
    .filter((parameter) => 'in' in parameter);
}

/** Moves the example from the schema to the parameter, so that the schema is only a reference. */
function sayBeside(parameter: ParameterObject): void {
  const { allOf, example, ...others } = parameter.schema as Readonly<Record<string, unknown>>;
  if (!Array.isArray(allOf) || Object.keys(others).length > 0) return;
  [parameter.schema] = allOf as [ReferenceObject];
  if (example !== undefined) parameter.example ??= example;
}

/** Replaces every titled schema in the value by a reference. */
function inside<T>(value: T, found: Schemas): T {
  if (Array.isArray(value)) return value.map((item: unknown) => named(item, found)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      key,
      VALUES.has(key) ? child : named(child, found),
    ]),
  ) as T;
}

function named(value: unknown, found: Schemas): unknown {
  const child = inside(value, found);
  if (!hasTitle(child)) return child;
  const { title, ...schema } = child;
  const entries = Object.entries(schema).filter(([, part]) => part !== undefined);
  const isSaidHere = ([key]: [string, unknown]) => SAID_ON_THE_SPOT.includes(key);
  const kind = Object.fromEntries(entries.filter((entry) => !isSaidHere(entry)));
  const said = Object.fromEntries(entries.filter(isSaidHere));
  const component = { ...aboutAll(title, kind), ...kind };
  const known = found[title];
  if (known && JSON.stringify(sorted(known)) !== JSON.stringify(sorted(component))) {
    throw new Error(`Two different schemas are called ${title}.`);
  }
  found[title] = component;
  const reference = { $ref: `#/components/schemas/${title}` };
  return Object.keys(said).length > 0 ? { allOf: [reference], ...said } : reference;
}

/** Returns a description for schemas of ids and of open sets. */
function aboutAll(title: string, { 'x-extensible-enum': known }: Schema): { description?: string } {
  if (Array.isArray(known)) {
    return { description: `An open set: there will be more. Known: ${known.join(', ')}.` };
  }
  if (!title.endsWith('Id')) return {};
  const words = title
    .slice(0, -2)
    .replace(/\B[A-Z]/g, ' $&')
    .toLowerCase();
  return { description: `The id of one ${words}.` };
}

function hasTitle(value: unknown): value is Schema & { title: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'title' in value &&
    typeof value.title === 'string'
  );
}

const IDENTIFIER = /^[a-z]\w*$/i;

/**
 * Adds names for enum values that are not identifiers. Otherwise generators give `created_at` and `-created_at` the same name with
 * a number.
 */
export function nameWords(document: OpenAPIObject): void {
  for (const schema of Object.values(document.components?.schemas ?? {})) {
    const words = ('enum' in schema ? schema.enum : undefined) as readonly string[] | undefined;
    if (!words || words.every((word) => IDENTIFIER.test(word))) continue;
    Object.assign(schema, { 'x-enum-varnames': words.map(nameOfWord) });
  }
}

/** Converts a value to a name: `-created_at` becomes CreatedAtDesc, and `action.approved` becomes ActionApproved. */
function nameOfWord(word: string): string {
  const parts = word.split(/[^a-z0-9]+/i).filter((part) => part);
  const name = parts.map((part) => part[0]!.toUpperCase() + part.slice(1)).join('');
  return word.startsWith('-') ? `${name}Desc` : name;
}

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
    // Pages, health and webhooks need no credentials, and ignore their query.
    if (operation.security?.length === 0) continue;
    for (const parameter of operation.parameters ?? []) {
      if ('in' in parameter && parameter.in === 'query') visit(parameter.schema);
    }
  }
}

/**
 * Sorts the keys of every object, so that the committed document changes only with its content. Examples keep their
 * order, because tools show the first example.
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
