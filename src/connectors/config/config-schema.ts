/** The part of JSON Schema in which connector types describe their configuration. */
export type ValueSchema =
  StringSchema | IntegerSchema | BooleanSchema | ListSchema | JsonSchema | MapSchema | ConfigSchema;

interface Described {
  readonly description?: string;
  /** Holds a secret: stored encrypted, never answered. */
  readonly writeOnly?: true;
}

export interface StringSchema extends Described {
  readonly type: 'string';
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength: number;
  readonly format?: 'uri';
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
  readonly maxItems: number;
  readonly uniqueItems?: true;
}

/** An object of any content, or text. */
export interface JsonSchema extends Described {
  readonly type: readonly ['object', 'string'];
}

/** Names that the configuration chooses itself, each with a value of one kind. */
export interface MapSchema extends Described {
  readonly type: 'object';
  readonly propertyNames: { readonly enum: readonly string[] } | { readonly pattern: string };
  readonly additionalProperties: ValueSchema;
  readonly minProperties?: number;
  readonly maxProperties: number;
}

export interface ConfigSchema extends Described {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ValueSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

/** A configuration as JSON has it: every value is something, or null. */
export type Config = Readonly<Record<string, NonNullable<unknown> | null>>;

export function isMap(schema: ValueSchema): schema is MapSchema {
  return schema.type === 'object' && 'propertyNames' in schema;
}

export function isObject(value: unknown): value is Config {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A configuration in two halves: what everyone may read, and what nobody may. */
export interface ConfigParts {
  readonly open: Config;
  readonly secrets: Config;
}

export function splitConfig(schema: ConfigSchema, config: Config): ConfigParts {
  const entries = Object.entries(config);
  const secret = ([name]: [string, unknown]): boolean => isSecret(schema, name);
  return {
    open: Object.fromEntries(entries.filter((entry) => !secret(entry))),
    secrets: Object.fromEntries(entries.filter(secret)),
  };
}

/**
 * The configuration after a partial change: what it leaves out stays. Secret maps change entry by entry, because nobody
 * can read back the entries that shall stay; null takes one away.
 */
export function changeConfig(schema: ConfigSchema, before: Config, change: Config): Config {
  const changed = Object.entries(change).map(([name, value]) => {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    const earlier = before[name];
    const merges = property?.writeOnly && isMap(property) && isObject(value) && isObject(earlier);
    return [name, merges ? withoutNulls({ ...earlier, ...value }) : value];
  });
  return { ...before, ...(Object.fromEntries(changed) as Config) };
}

/** Which secrets are set, as dotted paths such as `secrets.token`; their values are in none of them. */
export function secretNames(schema: ConfigSchema, secrets: Config): string[] {
  return Object.entries(secrets)
    .flatMap(([name, value]) =>
      isMap(schema.properties[name]!)
        ? Object.keys(value as object).map((key) => `${name}.${key}`)
        : [name],
    )
    .sort();
}

/** Every secret text, for taking it out of what goes elsewhere. */
export function secretTexts(secrets: Config): string[] {
  return Object.values(secrets).flatMap((value) =>
    isObject(value) ? secretTexts(value) : typeof value === 'string' ? [value] : [],
  );
}

function isSecret(schema: ConfigSchema, name: string): boolean {
  return schema.properties[name]?.writeOnly === true;
}

function withoutNulls(map: Config): Config {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== null));
}
