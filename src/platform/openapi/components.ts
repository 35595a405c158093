import type {
  OpenAPIObject,
  ParameterObject,
  ReferenceObject,
  SchemaObject,
} from '@nestjs/swagger';
import { operationsOf } from './placed-operations.js';
import { sorted } from './schemas.js';

type Schema = SchemaObject & Readonly<Record<string, unknown>>;
type Schemas = Record<string, SchemaObject | ReferenceObject>;

/** What is said of a schema where it is used; all else is the same wherever it is used. */
const SAID_ON_THE_SPOT = ['description', 'example', 'default'];

/** What is no schema, and may have a `title` that is a value. */
const VALUES = new Set(['example', 'examples', 'default', 'enum']);

/**
 * Makes a component of every schema with a title, which becomes its name, and refers to it: generators give a name of
 * their own to what has none, and one type for each place to what is one.
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

/** A parameter has an example of its own: so its schema is no more than the reference. */
function sayBeside(parameter: ParameterObject): void {
  const { allOf, example, ...others } = parameter.schema as Readonly<Record<string, unknown>>;
  if (!Array.isArray(allOf) || Object.keys(others).length > 0) return;
  [parameter.schema] = allOf as [ReferenceObject];
  if (example !== undefined) parameter.example ??= example;
}

/** The value with a reference in the place of every titled schema in it. */
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

/** What is said of all ids of a kind, and of all sets that grow. */
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
 * Gives the words of an enum names, where they are no identifiers: left to themselves, generators call `created_at` and
 * `-created_at` the same and number them.
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
