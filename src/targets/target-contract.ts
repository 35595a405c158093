import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, type SchemaObject } from '@nestjs/swagger';
import { ApiSchemas } from '../platform/openapi/answers.js';
import { pascal, propertySchema, ref } from '../platform/openapi/schemas.js';
import { NULL_IS_ABSENT_EXTENSION, readsNullAsAbsent } from '../platform/validation/json-shield.js';
import {
  type ConfigSchema,
  type MapSchema,
  type StringSchema,
  type ValueSchema,
  isMap,
} from './target-config.js';
import { ACTION_TYPES } from '../action-catalogue/action-types.js';

/** Requests whose `config` depends on their `type`. */
export interface RequestsByType {
  /** Name of the union schema. */
  readonly union: string;
  /** Suffix of schema names: `Connector` gives JiraConnectorInput. */
  readonly noun: string;
  /** Suffix of configuration schema names: `Channel` gives SlackChannelConfig. */
  readonly configNoun?: string;
  /** DTO with untyped `type` and `config`, and the other fields. */
  readonly request: Type;
  readonly otherFields: readonly string[];
  /** Configuration schema by type. */
  readonly configs: Readonly<Record<string, ConfigSchema>>;
}

/** One schema per type, distinguished by `type`, with its referenced schemas. */
export function schemasByType(requests: RequestsByType): Readonly<Record<string, SchemaObject>> {
  const { union, noun, configNoun = '', request, otherFields, configs } = requests;
  const others = otherFields.map((field) => [field, propertySchema(request, field)] as const);
  const found = Object.entries(configs).map(([type, schema]) => {
    const prefix = `${pascal(type)}${configNoun}`;
    const config = `${prefix}Config`;
    const name = `${pascal(type)}${noun}Input`;
    const whole: SchemaObject = {
      type: 'object',
      required: ['name', 'type', 'config'],
      properties: {
        name: propertySchema(request, 'name'),
        type: { type: 'string', enum: [type] },
        config: ref(config),
        ...Object.fromEntries(others),
      },
      additionalProperties: false,
      ...(readsNullAsAbsent(request as new () => object) && { [NULL_IS_ABSENT_EXTENSION]: true }),
    };
    return { type, name, schemas: { [name]: whole, ...namedSchemas(config, prefix, schema) } };
  });
  const any: SchemaObject = {
    description: 'A resource to set up. `type` determines the configuration.',
    oneOf: found.map(({ name }) => ref(name)),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(found.map(({ type, name }) => [type, ref(name).$ref])),
    },
  };
  const each = found.flatMap(({ schemas }) => Object.entries(schemas));
  return Object.fromEntries([...each, [union, any]]) as Readonly<Record<string, SchemaObject>>;
}

/** Documents the body of such a request. */
export const ApiRequestByType = (requests: RequestsByType): MethodDecorator =>
  applyDecorators(
    ApiSchemas(schemasByType(requests)),
    ApiBody({ required: true, schema: ref(requests.union) }),
  );

type Schema = SchemaObject | { readonly $ref: string };
type Schemas = Record<string, Schema>;

/*
 * Configuration schemas in OpenAPI 3.0. It has no patterns for names, and generators do not support union types. The
 * service validates these; the descriptions mention them.
 */

/** Addresses without user and fragment. A format would say less and allow other schemes. */
const ADDRESSES = {
  uri: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s\\x00]+(/[^?#\\s\\x00]*)?$',
  'uri-with-query': '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s\\x00]+([/?][^#\\s\\x00]*)?$',
} as const;

/** The schema `name` and its referenced schemas, whose names start with `prefix`. */
function namedSchemas(name: string, prefix: string, schema: ConfigSchema): Schemas {
  const found: Schemas = {};
  const properties = Object.entries(schema.properties).map(([field, value]): [string, Schema] => [
    field,
    schemaOf(value, `${prefix}${pascal(field)}`, found),
  ]);
  const { description, required } = schema;
  return {
    ...found,
    [name]: {
      type: 'object',
      description,
      properties: Object.fromEntries(properties),
      required: required.length > 0 ? [...required] : undefined,
      additionalProperties: false,
    },
  };
}

/** Adds enums and objects with named fields to `found` under their own names. */
function schemaOf(schema: ValueSchema, name: string, found: Schemas): Schema {
  if (isMap(schema)) return mapSchema(schema, name, found);
  if ('properties' in schema) {
    Object.assign(found, namedSchemas(name, name, schema));
    return ref(name);
  }
  switch (schema.type) {
    case 'string':
      return schema.enum ? wordSet(schema.enum, name, found) : textSchema(schema);
    case 'array':
      return { ...schema, items: schemaOf(schema.items, name, found) };
    case 'integer':
      return { ...schema, format: 'int32' };
    case 'boolean':
      return { ...schema };
    default:
      return { description: schema.description };
  }
}

function textSchema({ format, ...schema }: StringSchema): SchemaObject {
  return { ...schema, ...(format && { pattern: ADDRESSES[format] }) } as SchemaObject;
}

function wordSet(words: readonly string[], name: string, found: Schemas): Schema {
  if (words === ACTION_TYPES) return ref('KnownActionType');
  found[name] = { type: 'string', enum: [...words] };
  return ref(name);
}

function mapSchema(schema: MapSchema, name: string, found: Schemas): Schema {
  const { propertyNames: names, additionalProperties, ...rest } = schema;
  // Singular of the map: HttpActions contains HttpAction.
  const value = schemaOf(additionalProperties, name.replace(/s$/, ''), found);
  if ('enum' in names) {
    const properties = Object.fromEntries(names.enum.map((one) => [one, value]));
    found[name] = { ...rest, properties, additionalProperties: false };
    return ref(name);
  }
  const description = `${rest.description ?? ''} Names match \`${names.pattern}\`.`.trim();
  return { ...rest, description, additionalProperties: value };
}
