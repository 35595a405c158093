import type { SchemaObject } from '@nestjs/swagger';

/** Prevents short guesses: a masked word confirms a guess, and a response can contain thousands of short words. */
export const SHORTEST_SECRET = 8;

type Rules = Readonly<
  Omit<SchemaObject, 'type' | 'enum' | 'required' | 'items' | 'properties' | 'additionalProperties'>
>;

/** A symbol, because JSON Schema lists the required fields instead. */
const OPTIONAL = Symbol('optional');

/** Keywords of JSON Schema. `writeOnly` marks a secret or a map of secrets, which are encrypted and never returned. */
export interface ValueSchema extends Rules {
  readonly type:
    'string' | 'integer' | 'boolean' | 'array' | 'object' | readonly ['object', 'string'];
  readonly enum?: readonly string[];
  readonly [OPTIONAL]?: true;
  readonly default?: string | number | boolean;
  /** `uri-with-query`: an address whose query may contain a token. */
  readonly format?: 'uri' | 'uri-with-query';
  readonly items?: ValueSchema;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  /** Rule for the names in a map, which the user chooses. Every value has the schema `additionalProperties`. */
  readonly propertyNames?: { readonly enum: readonly string[] } | { readonly pattern: string };
  readonly additionalProperties?: ValueSchema | false;
  /** True if names are case-insensitive, like header names. JSON Schema has no keyword for this. */
  readonly 'x-ignore-case'?: true;
}

export interface MapSchema extends ValueSchema {
  readonly propertyNames: NonNullable<ValueSchema['propertyNames']>;
  readonly additionalProperties: ValueSchema;
}

export interface ConfigSchema extends ValueSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ValueSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** Fields are required, unless they are `optional` or have a default. */
export function fields<const Properties extends ConfigSchema['properties']>(
  properties: Properties,
  description?: string,
) {
  const required = Object.entries<ValueSchema>(properties)
    .filter(([, schema]) => !schema[OPTIONAL] && schema.default === undefined)
    .map(([name]) => name);
  const additionalProperties = false;
  return { type: 'object', description, properties, required, additionalProperties } as const;
}

export const optional = <const Schema extends ValueSchema>(schema: Schema) =>
  ({ ...schema, [OPTIONAL]: true }) as const;

type More = Omit<ValueSchema, 'type'>;
type Text = More & { readonly type: 'string' };

export const text = (description: string, more: More & { readonly maxLength: number }): Text => ({
  type: 'string',
  description,
  ...more,
});

export const address = (description: string, more: More = {}): Text =>
  text(description, { format: 'uri', minLength: 8, maxLength: 2_000, ...more });

export const secret = (description: string, more: More = {}): Text =>
  text(description, { writeOnly: true, minLength: SHORTEST_SECRET, maxLength: 1_000, ...more });

interface PlainValues {
  readonly string: string;
  readonly integer: number;
  readonly boolean: boolean;
}

type ValueOf<Schema> = Schema extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : Schema extends { readonly type: keyof PlainValues }
    ? PlainValues[Schema['type']]
    : Schema extends { readonly items: infer Item }
      ? readonly ValueOf<Item>[]
      : Schema extends MapSchema
        ? Readonly<Record<string, ValueOf<Schema['additionalProperties']>>>
        : Schema extends ConfigSchema
          ? ConfigOf<Schema>
          : Schema extends { readonly type: readonly ['object', 'string'] }
            ? string | Readonly<Record<string, unknown>>
            : unknown;

export type ConfigOf<
  Schema extends Pick<ConfigSchema, 'properties'>,
  Properties = Schema['properties'],
> = {
  readonly [Name in keyof Properties]:
    | ValueOf<Properties[Name]>
    | (Properties[Name] extends { readonly [OPTIONAL]: true } ? undefined : never);
};

export type Config = Readonly<Record<string, NonNullable<unknown> | null>>;

export const isFields = (schema: ValueSchema): schema is ConfigSchema =>
  schema.properties !== undefined;

export const isMap = (schema: ValueSchema | undefined): schema is MapSchema =>
  schema?.propertyNames !== undefined;

export const isObject = (value: unknown): value is Config =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function withDefaults({ properties }: ConfigSchema, config: Config): Config {
  const defaults = Object.entries(properties).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(defaults), ...config };
}

export function splitConfig({ properties }: ConfigSchema, config: Config) {
  const isSecret = ([name]: readonly [string, unknown]) => properties[name]?.writeOnly ?? false;
  const [secrets = [], readable = []] = [true, false].map((wanted) =>
    Object.entries(config).filter((field) => isSecret(field) === wanted),
  );
  return { readable: Object.fromEntries(readable), secrets: Object.fromEntries(secrets) };
}

/** Applies a change. A map of secrets changes entry by entry, because callers cannot read it. Null removes an entry. */
export function changeConfig(schema: ConfigSchema, before: Config, change: Config): Config {
  const after = new Map(Object.entries(before));
  for (const [name, value] of Object.entries(change)) {
    const property = ownOf(schema.properties, name);
    const earlier = before[name];
    const merges = property?.writeOnly && isMap(property) && isObject(value) && isObject(earlier);
    const isOptional = property !== undefined && !schema.required.includes(name);
    if (value === null && isOptional) after.delete(name);
    else after.set(name, merges ? changeMap(property, earlier, value) : value);
  }
  return Object.fromEntries(after);
}

/** Reads own members only, because a field or a secret may have the name `constructor`. */
export function ownOf<Value>(object: Readonly<Record<string, Value>>, name: string) {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function secretNames(schema: ConfigSchema, config: Config): string[] {
  return Object.entries(splitConfig(schema, config).secrets)
    .flatMap(([name, value]) =>
      isMap(schema.properties[name]) && isObject(value)
        ? Object.keys(value).map((key) => `${name}.${key}`)
        : [name],
    )
    .sort();
}

export function secretTexts(secrets: Config): string[] {
  return Object.values(secrets).flatMap((value) =>
    isObject(value) ? secretTexts(value) : typeof value === 'string' ? [value] : [],
  );
}

function changeMap(schema: MapSchema, earlier: Config, change: Config): Config {
  const keyOf = (name: string) => (schema['x-ignore-case'] ? name.toLowerCase() : name);
  const changed = new Set(Object.keys(change).map(keyOf));
  const stay = Object.entries(earlier).filter(([name]) => !changed.has(keyOf(name)));
  const given = Object.entries(change).filter(([, value]) => value !== null);
  return Object.fromEntries([...stay, ...given]);
}
