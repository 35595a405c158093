/**
 * Shorter secrets are refused when they are saved. A vendor that echoes what it is asked shows by what is masked whether a guess
 * was right, and thousands of short guesses fit into one echo.
 */
export const SHORTEST_SECRET = 8;

/** The part of JSON Schema in which types of connectors describe their configuration. Ajv checks by it. */
export type ValueSchema =
  StringSchema | IntegerSchema | BooleanSchema | ListSchema | JsonSchema | MapSchema | ConfigSchema;

interface Described {
  readonly description?: string;
  /** A secret, or a map of secrets: stored encrypted, and in no answer. */
  readonly writeOnly?: true;
}

export interface StringSchema extends Described {
  readonly type: 'string';
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength: number;
  /** `uri-with-query` for an address that its owner made for this caller, and that may carry a token in its query. */
  readonly format?: 'uri' | 'uri-with-query';
  readonly default?: string;
}

export interface IntegerSchema extends Described {
  readonly type: 'integer';
  readonly minimum: number;
  readonly maximum: number;
  readonly default?: number;
}

export interface BooleanSchema extends Described {
  readonly type: 'boolean';
  readonly default?: boolean;
}

export interface ListSchema extends Described {
  readonly type: 'array';
  readonly items: StringSchema | IntegerSchema;
  readonly minItems?: number;
  readonly maxItems: number;
  readonly uniqueItems?: true;
}

/** An object of any content, or text. */
export interface JsonSchema extends Described {
  readonly type: readonly ['object', 'string'];
}

/** Names that the configuration chooses itself, such as names of headers, each with a value by the same schema. */
export interface MapSchema extends Described {
  readonly type: 'object';
  readonly propertyNames: { readonly enum: readonly string[] } | { readonly pattern: string };
  readonly additionalProperties: ValueSchema;
  readonly minProperties?: number;
  readonly maxProperties: number;
  /** Names that differ in nothing but upper and lower case are the same, as those of headers are. No keyword of JSON Schema says that. */
  readonly 'x-ignore-case'?: true;
}

export interface ConfigSchema extends Described {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ValueSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** A configuration as it comes from JSON: there are null values, but none is undefined. */
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

/** With the defaults of the fields that it leaves out. */
export function withDefaults(schema: ConfigSchema, config: Config): Config {
  const defaults = Object.entries(schema.properties).flatMap(
    ([name, property]): [string, NonNullable<unknown>][] =>
      'default' in property && property.default !== undefined ? [[name, property.default]] : [],
  );
  return { ...Object.fromEntries(defaults), ...config };
}

/** A configuration in two parts: what callers may read, and what nobody may. */
export interface ConfigParts {
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
 * The configuration after a partial change. Fields that the change does not name stay as they are. A map of secrets
 * changes entry by entry, because nobody could read the other entries to send them again. Null removes an entry, and a field
 * that is not required: its default holds again.
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

/** Which secrets are set, as dotted paths such as `secrets.token`, without their values. */
export function secretNames(schema: ConfigSchema, secrets: Config): string[] {
  return Object.entries(secrets)
    .flatMap(([name, value]) =>
      isMap(schema.properties[name]!) && isObject(value)
        ? Object.keys(value).map((key) => `${name}.${key}`)
        : [name],
    )
    .sort();
}

/** The values of all secrets, so that they can be masked elsewhere. */
export function secretTexts(secrets: Config): string[] {
  return Object.values(secrets).flatMap((value) =>
    isObject(value) ? secretTexts(value) : typeof value === 'string' ? [value] : [],
  );
}

/** An entry takes the place of the earlier one whose name is the same, also when it is spelled in another way. */
function changeMap(schema: MapSchema, earlier: Config, change: Config): Config {
  const stay = Object.entries(earlier).filter(
    ([name]) => entryOf(schema, change, name) === undefined,
  );
  const given = Object.entries(change).filter(([, value]) => value !== null);
  return Object.fromEntries([...stay, ...given]);
}

/** The value that a map has under this name; undefined when it has none. Its own: an entry may be called `constructor`. */
export function entryOf(schema: MapSchema, map: Config, name: string): unknown {
  if (Object.hasOwn(map, name)) return map[name];
  if (!ignoresCase(schema)) return undefined;
  return Object.entries(map).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
}
