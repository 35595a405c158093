import type { SchemaObject } from '@nestjs/swagger';
import { ACTION_TYPES } from '../../action-catalogue/action-types.js';
import { pascal, ref } from '../../platform/openapi/schemas.js';
import type { ConfigSchema, MapSchema, StringSchema, ValueSchema } from './config-schema.js';
import { isMap } from './config-schema.js';

type Schema = SchemaObject | { readonly $ref: string };
type Schemas = Record<string, Schema>;

/*
 * A configuration as OpenAPI 3.0 says it. That has no patterns of names, and no type of two kinds that every generator
 * reads: these stay for the service to judge, and are said in words.
 */

/** Addresses without user and fragment. A format says less than these patterns, and would allow other schemes. */
const ADDRESSES = {
  uri: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s\\x00]+(/[^?#\\s\\x00]*)?$',
  'uri-with-query': '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s\\x00]+([/?][^#\\s\\x00]*)?$',
} as const;

/** The schema under `name`, and those that it refers to. `prefix` begins the names of these. */
export function namedSchemas(name: string, prefix: string, schema: ConfigSchema): Schemas {
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

/** Sets of words, and objects whose fields have names, get a name themselves and go into `found`. */
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
  // One of the things that the map holds: HttpActions holds HttpAction.
  const value = schemaOf(additionalProperties, name.replace(/s$/, ''), found);
  if ('enum' in names) {
    const properties = Object.fromEntries(names.enum.map((one) => [one, value]));
    found[name] = { ...rest, properties, additionalProperties: false };
    return ref(name);
  }
  const description = `${rest.description ?? ''} Names match \`${names.pattern}\`.`.trim();
  return { ...rest, description, additionalProperties: value };
}
