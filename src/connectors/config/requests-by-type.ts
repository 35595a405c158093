import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, type SchemaObject } from '@nestjs/swagger';
import { ApiSchemas } from '../../platform/openapi/answers.js';
import { pascal, propertySchema, ref } from '../../platform/openapi/schemas.js';
import type { ConfigSchema } from './config-schema.js';
import { namedSchemas } from './contract-schemas.js';

/** What is set up by requests whose `config` depends on their `type`. */
export interface RequestsByType {
  /** The name of the schema of any of them. */
  readonly union: string;
  /** Ends the names of the schemas of each: `Connector` gives NewJiraConnector. */
  readonly noun: string;
  /** Ends what the names of the schemas of a configuration begin with: `Channel` gives SlackChannelConfig. */
  readonly configNoun?: string;
  /** Has `type` and `config` as they come, and says what else a request may have. */
  readonly request: Type;
  readonly otherFields: readonly string[];
  /** By type, the configuration that callers give. */
  readonly configs: Readonly<Record<string, ConfigSchema>>;
}

/** One schema for each type, told apart by `type`, with those that they refer to. */
export function schemasByType(requests: RequestsByType): Readonly<Record<string, SchemaObject>> {
  const { union, noun, configNoun = '', request, otherFields, configs } = requests;
  const others = otherFields.map((field) => [field, propertySchema(request, field)] as const);
  const found = Object.entries(configs).map(([type, schema]) => {
    const prefix = `${pascal(type)}${configNoun}`;
    const config = `${prefix}Config`;
    const name = `New${pascal(type)}${noun}`;
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
    };
    return { type, name, schemas: { [name]: whole, ...namedSchemas(config, prefix, schema) } };
  });
  const any: SchemaObject = {
    description: 'What is to be set up. `type` says which configuration there is.',
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
