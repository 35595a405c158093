import type { OpenAPIObject, ReferenceObject, SchemaObject } from '@nestjs/swagger';
import { ACTION_TYPES } from '../../src/action-catalogue/action-types.js';
import { CONNECTOR_TYPES } from '../../src/connectors/connector-registry.js';
import { CHANNEL_TYPES } from '../../src/notifications/channel.js';
import { pascal, ref } from '../../src/platform/openapi/answers.js';
import {
  type ConfigSchema,
  isFields,
  isMap,
  type MapSchema,
  type ValueSchema,
} from '../../src/targets/target-config.js';

/** `noun`: in the names of the schemas of a type, such as SlackChannelInput with the configuration SlackChannelConfig. */
const TARGETS = [
  { input: 'ConnectorInputDto', noun: 'Connector', ofConfig: '', types: CONNECTOR_TYPES.all },
  {
    input: 'NotificationChannelInputDto',
    noun: 'Channel',
    ofConfig: 'Channel',
    types: CHANNEL_TYPES.all,
  },
];

type Schema = SchemaObject | ReferenceObject;
type Schemas = Record<string, Schema>;

/** Replaces the request to create a connector or a channel by one request for each type. */
export function addRequestsByType({ components }: OpenAPIObject): void {
  const schemas = components!.schemas!;
  for (const { input, noun, ofConfig, types } of TARGETS) {
    const request = schemas[input] as SchemaObject;
    const mapping = types.map(({ name, config }) => {
      const prefix = `${pascal(name)}${ofConfig}`;
      const { $ref } = add(schemas, `${pascal(name)}${noun}Input`, {
        ...request,
        properties: {
          ...request.properties,
          type: { type: 'string', enum: [name] },
          config: add(schemas, `${prefix}Config`, objectSchema(schemas, prefix, config)),
        },
        additionalProperties: false,
      });
      return [name, $ref] as const;
    });
    schemas[input] = {
      description: 'A resource to set up. `type` determines the configuration.',
      oneOf: mapping.map(([, $ref]) => ({ $ref })),
      discriminator: { propertyName: 'type', mapping: Object.fromEntries(mapping) },
    };
  }
}

// Only the service validates names of maps and union types: OpenAPI 3.0 has no patterns for names, and generators do
// not support union types.

/** Patterns of addresses without user and fragment. The format `uri` would be less precise and allow other schemes. */
const ADDRESSES = {
  uri: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s\\x00]+(/[^?#\\s\\x00]*)?$',
  'uri-with-query': '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@\\s\\x00]+([/?][^#\\s\\x00]*)?$',
} as const;

function add(schemas: Schemas, name: string, schema: Schema) {
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
  if (schema.enum) return add(schemas, name, { type: 'string', enum: [...schema.enum] });
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
  // The schema of an entry has the singular name: HttpActions contains HttpAction.
  const value = schemaOf(schemas, name.replace(/s$/, ''), schema.additionalProperties);
  if ('enum' in names) {
    const properties = Object.fromEntries(names.enum.map((key) => [key, value]));
    return add(schemas, name, { ...rest, properties, additionalProperties: false } as Schema);
  }
  const description = `${rest.description ?? ''} Names match \`${names.pattern}\`.`.trim();
  return { ...rest, description, additionalProperties: value } as Schema;
}
