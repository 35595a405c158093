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

export type Config = Readonly<Record<string, unknown>>;

export function isMap(schema: ValueSchema): schema is MapSchema {
  return schema.type === 'object' && 'propertyNames' in schema;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
