import type { Type } from '@nestjs/common';
import { PartialType, PickType, type SchemaObject } from '@nestjs/swagger';
import { pascal, propertySchemas, ref } from '../platform/openapi/answers.js';
import {
  Flag,
  GivenName,
  Instant,
  JsonObject,
  NULL_IS_ABSENT_EXTENSION,
  readsNullAsAbsent,
  Text,
  Texts,
  WholeNumber,
} from '../platform/validation/fields.js';
import { ACTION_TYPES } from '../action-catalogue/action-types.js';
import type { TargetType } from './target-check.js';
import {
  type Config,
  type ConfigSchema,
  isFields,
  isMap,
  type MapSchema,
  type ValueSchema,
} from './target-config.js';

export class ShownTarget {
  @GivenName()
  readonly name: string;

  @Text()
  readonly type: string;

  @Flag()
  readonly enabled: boolean;

  @JsonObject({ description: 'Configuration without secrets.' })
  readonly config: Config;

  @Texts({ description: 'Names of the secrets that are set.' })
  readonly secrets_set: readonly string[];

  @Instant()
  readonly created_at: Date;

  @Instant()
  readonly updated_at: Date;
}

/** The contract has one schema per type instead. */
export class TargetInput extends PickType(ShownTarget, ['name', 'type']) {
  @JsonObject()
  readonly config: Config;

  @Flag({ optional: true, default: true })
  readonly enabled?: boolean;
}

export class TargetUpdate extends PartialType(PickType(ShownTarget, ['name', 'enabled'])) {
  @JsonObject({
    optional: true,
    description:
      'Fields to change. Absent fields do not change, including secrets. Null removes an optional field. In a map of secrets only the given entries change, and null removes one. Any other object is replaced as a whole, such as `actions` of the connector type `http`. If the scheme, host or port of a destination of secrets changes, each secret must be given again (code secret_required).',
  })
  readonly config?: Config;
}

export class TargetTest {
  @Flag()
  readonly success: boolean;

  @Text()
  readonly message: string;

  @WholeNumber({ min: 0 })
  readonly latency_ms: number;
}

export class ShownType {
  @Text()
  readonly name: string;

  @Text()
  readonly description: string;

  @JsonObject({ description: 'JSON Schema of `config`. Fields with writeOnly are secrets.' })
  readonly config_schema: ConfigSchema;
}

export function shownType(type: TargetType): ShownType {
  const { name, description, config } = type;
  return { name, description, config_schema: config };
}

export interface RequestsByType<Input extends TargetInput = TargetInput> {
  readonly name: string;
  /** Noun in the schemas of a type, such as SlackChannelConfig, if it differs from `name`. */
  readonly short?: string;
  readonly input: Type<Input>;
  readonly types: readonly TargetType[];
}

type Schema = SchemaObject | { readonly $ref: string };
type Schemas = Record<string, Schema>;

export function schemasByType(requests: RequestsByType): Readonly<Record<string, SchemaObject>> {
  const { name: target, short = '', input, types } = requests;
  const schemas: Schemas = {};
  const mapping = types.map(({ name, config }) => {
    const prefix = `${pascal(name)}${short}`;
    const { $ref } = add(schemas, `${pascal(name)}${short || target}Input`, {
      type: 'object',
      required: ['name', 'type', 'config'],
      properties: {
        ...propertySchemas(input),
        type: { type: 'string', enum: [name] },
        config: add(schemas, `${prefix}Config`, objectSchema(schemas, prefix, config)),
      },
      additionalProperties: false,
      ...(readsNullAsAbsent(input) && { [NULL_IS_ABSENT_EXTENSION]: true }),
    });
    return [name, $ref] as const;
  });
  add(schemas, `${target}Input`, {
    description: 'A resource to set up. `type` determines the configuration.',
    oneOf: mapping.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) },
  });
  return schemas as Record<string, SchemaObject>;
}

// OpenAPI 3.0 has no patterns for names, and generators do not support union types. The service validates both.

/** Pattern of addresses without user and fragment. A format would be less precise and allow other schemes. */
const ADDRESSES = {
  uri: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s\\x00]+(/[^?#\\s\\x00]*)?$',
  'uri-with-query': '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s\\x00]+([/?][^#\\s\\x00]*)?$',
} as const;

function add(schemas: Schemas, name: string, schema: object) {
  schemas[name] = schema;
  return ref(name);
}

function objectSchema(schemas: Schemas, prefix: string, schema: ConfigSchema): Schema {
  const { description, required, properties } = schema;
  const shown = Object.entries(properties).map(([field, value]): [string, Schema] => [
    field,
    schemaOf(schemas, `${prefix}${pascal(field)}`, value),
  ]);
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(shown),
    required: required.length > 0 ? [...required] : undefined,
    additionalProperties: false,
  };
}

function schemaOf(schemas: Schemas, name: string, schema: ValueSchema): Schema {
  if (isMap(schema)) return mapSchema(schemas, name, schema);
  if (isFields(schema)) return add(schemas, name, objectSchema(schemas, name, schema));
  if (schema.enum === ACTION_TYPES) return ref('KnownActionType');
  if (schema.enum) return add(schemas, name, { type: 'string', enum: schema.enum });
  const { type, format, items, ...rest } = schema;
  if (typeof type !== 'string') return { description: rest.description };
  return {
    ...rest,
    type,
    ...(items && { items: schemaOf(schemas, name, items) }),
    ...(format && { pattern: ADDRESSES[format] }),
    ...(type === 'integer' && { format: 'int32' }),
  } as Schema;
}

function mapSchema(schemas: Schemas, name: string, schema: MapSchema): Schema {
  const { propertyNames: names, ...rest } = schema;
  // Singular of the map: HttpActions contains HttpAction.
  const value = schemaOf(schemas, name.replace(/s$/, ''), schema.additionalProperties);
  if ('enum' in names) {
    const properties = Object.fromEntries(names.enum.map((key) => [key, value]));
    return add(schemas, name, { ...rest, properties, additionalProperties: false });
  }
  const description = `${rest.description ?? ''} Names match \`${names.pattern}\`.`.trim();
  return { ...rest, description, additionalProperties: value } as Schema;
}
