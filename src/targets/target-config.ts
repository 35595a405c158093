/**
 * Minimum length of secrets. If a vendor echoes input, masking reveals whether a guess was right, and one echo can
 * contain thousands of short guesses.
 */
export const SHORTEST_SECRET = 8;

/** Part of JSON Schema that describes configurations. Ajv validates it. */
export type ValueSchema =
  StringSchema | IntegerSchema | BooleanSchema | ListSchema | JsonSchema | MapSchema | ConfigSchema;

interface Described {
  readonly description?: string;
  /** A secret, or a map of secrets: encrypted, and never returned. */
  readonly writeOnly?: true;
}

export interface StringSchema extends Described {
  readonly type: 'string';
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength: number;
  /** `uri-with-query` for an address that may contain a token in its query. */
  readonly format?: 'uri' | 'uri-with-query';
  readonly default?: string;
}

interface IntegerSchema extends Described {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
  readonly default?: number;
}

interface BooleanSchema extends Described {
  readonly type: 'boolean';
  readonly default?: boolean;
}

interface ListSchema extends Described {
  readonly type: 'array';
  readonly items: StringSchema | IntegerSchema;
  readonly minItems?: number;
  readonly maxItems: number;
  readonly uniqueItems?: true;
}

/** An object with any content, or text. */
export interface JsonSchema extends Described {
  readonly type: readonly ['object', 'string'];
}

/** A map with names that the user chooses, such as header names. All values have one schema. */
export interface MapSchema extends Described {
  readonly type: 'object';
  readonly propertyNames: { readonly enum: readonly string[] } | { readonly pattern: string };
  readonly additionalProperties: ValueSchema;
  readonly minProperties?: number;
  readonly maxProperties: number;
  /** Names are case-insensitive, like header names. JSON Schema has no keyword for this. */
  readonly 'x-ignore-case'?: true;
}

export interface ConfigSchema extends Described {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ValueSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** Schema of a configuration with these fields. */
export function fields<
  const Properties extends ConfigSchema['properties'],
  const Required extends readonly (keyof Properties & string)[],
>(properties: Properties, required: Required, description?: string) {
  return {
    type: 'object',
    description,
    properties,
    required,
    additionalProperties: false,
  } as const;
}

/** Schema of an http or https address. */
export function address<const More extends Partial<StringSchema>>(
  description: string,
  more: More,
): StringSchema & More {
  return { type: 'string', format: 'uri', maxLength: 2_000, description, ...more };
}

/** Schema of a secret. */
export function secret<const More extends Partial<StringSchema>>(
  description: string,
  more: More,
): StringSchema & More {
  const length = { minLength: SHORTEST_SECRET, maxLength: 1_000 };
  return { type: 'string', ...length, writeOnly: true, description, ...more };
}

type ValueOf<Schema> = Schema extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : Schema extends { readonly type: 'string' }
    ? string
    : Schema extends { readonly type: 'integer' }
      ? number
      : Schema extends { readonly type: 'boolean' }
        ? boolean
        : Schema extends { readonly items: infer Item }
          ? readonly ValueOf<Item>[]
          : unknown;

type SetNames<Schema extends ConfigSchema> = {
  [Name in keyof Schema['properties']]: Name extends Schema['required'][number]
    ? Name
    : Schema['properties'][Name] extends { readonly default: unknown }
      ? Name
      : never;
}[keyof Schema['properties']];

/** A configuration that is valid by the schema and has its defaults. */
export type ConfigOf<Schema extends ConfigSchema> = {
  readonly [Name in SetNames<Schema>]: ValueOf<Schema['properties'][Name]>;
} & {
  readonly [Name in Exclude<keyof Schema['properties'], SetNames<Schema>>]?: ValueOf<
    Schema['properties'][Name]
  >;
};

/** A configuration from JSON: values may be null, but not undefined. */
export type Config = Readonly<Record<string, NonNullable<unknown> | null>>;

export function isMap(schema: ValueSchema): schema is MapSchema {
  return schema.type === 'object' && 'propertyNames' in schema;
}

export function ignoresCase(map: MapSchema): boolean {
  return map['x-ignore-case'] === true;
}

export function isObject(value: unknown): value is Config {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Adds the defaults of absent fields. */
export function withDefaults(schema: ConfigSchema, config: Config): Config {
  const defaults = Object.entries(schema.properties).flatMap(
    ([name, property]): [string, NonNullable<unknown>][] =>
      'default' in property && property.default !== undefined ? [[name, property.default]] : [],
  );
  return { ...Object.fromEntries(defaults), ...config };
}

/** A configuration split into a readable and a secret part. */
interface ConfigParts {
  readonly readable: Config;
  readonly secrets: Config;
}

export function splitConfig(schema: ConfigSchema, config: Config): ConfigParts {
  const entries = Object.entries(config);
  const isSecret = ([name]: [string, unknown]): boolean =>
    schema.properties[name]?.writeOnly === true;
  return {
    readable: Object.fromEntries(entries.filter((entry) => !isSecret(entry))),
    secrets: Object.fromEntries(entries.filter(isSecret)),
  };
}

/**
 * Applies a partial change. Absent fields do not change. A map of secrets changes entry by entry, because callers
 * cannot read the other entries. Null removes an entry or an optional field.
 */
export function changeConfig(schema: ConfigSchema, before: Config, change: Config): Config {
  const changed = Object.entries(change).map(([name, value]) => {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const earlier = before[name];
    const map = property?.writeOnly && isMap(property) ? property : undefined;
    const merges = map && isObject(value) && isObject(earlier);
    return [name, merges ? changeMap(map, earlier, value) : value];
  });
  const after = { ...before, ...(Object.fromEntries(changed) as Config) };
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => value !== null || !isOptional(schema, name)),
  );
}

function isOptional({ properties, required }: ConfigSchema, name: string): boolean {
  return Object.hasOwn(properties, name) && !required.includes(name);
}

/** Names of the secrets that are set, such as `secrets.token`. */
export function secretNames(schema: ConfigSchema, secrets: Config): string[] {
  return Object.entries(secrets)
    .flatMap(([name, value]) =>
      isMap(schema.properties[name]!) && isObject(value)
        ? Object.keys(value).map((key) => `${name}.${key}`)
        : [name],
    )
    .sort();
}

/** Values of all secrets, for masking. */
export function secretTexts(secrets: Config): string[] {
  return Object.values(secrets).flatMap((value) =>
    isObject(value) ? secretTexts(value) : typeof value === 'string' ? [value] : [],
  );
}

/** Replaces entries, also if the name has another case. */
function changeMap(schema: MapSchema, earlier: Config, change: Config): Config {
  const stay = Object.entries(earlier).filter(
    ([name]) => entryOf(schema, change, name) === undefined,
  );
  const given = Object.entries(change).filter(([, value]) => value !== null);
  return Object.fromEntries([...stay, ...given]);
}

/**
 * Value of the entry; `undefined` if there is none. Checks own properties, because an entry may be named `constructor`.
 */
export function entryOf(schema: MapSchema, map: Config, name: string): unknown {
  if (Object.hasOwn(map, name)) return map[name];
  if (!ignoresCase(schema)) return undefined;
  return Object.entries(map).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
}
