import type {
  OpenAPIObject,
  ParameterObject,
  ReferenceObject,
  SchemaObject,
} from '@nestjs/swagger';
import { operationsOf, sorted } from './schemas.js';

type Schema = SchemaObject & Readonly<Record<string, unknown>>;
type Schemas = Record<string, SchemaObject | ReferenceObject>;

/** Keywords that may differ at each place that uses a schema. */
const SAID_ON_THE_SPOT = ['description', 'example', 'default'];

/** Keys whose contents are values, which may have a `title`. */
const VALUES = new Set(['example', 'examples', 'default', 'enum']);

/**
 * Makes a component of every schema with a title and replaces the schema by a reference. Without it, generators invent names and
 * make one type for each place.
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

/** Returns the description of ids and of open sets. */
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

/** `-created_at` is CreatedAtDesc, `action.approved` is ActionApproved. */
function nameOfWord(word: string): string {
  const parts = word.split(/[^a-z0-9]+/i).filter((part) => part);
  const name = parts.map((part) => part[0]!.toUpperCase() + part.slice(1)).join('');
  return word.startsWith('-') ? `${name}Desc` : name;
}
