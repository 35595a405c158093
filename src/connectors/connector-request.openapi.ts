import { applyDecorators } from '@nestjs/common';
import { ApiBody, type SchemaObject } from '@nestjs/swagger';
import { ApiSchemas } from '../platform/openapi/answers.js';
import { pascal, propertySchema, ref } from '../platform/openapi/schemas.js';
import { namedSchemas } from './config/contract-schemas.js';
import { CONNECTOR_SCHEMAS } from './connector-schemas.js';
import { NewConnectorDto } from './connectors.dto.js';

/* The body of a request for a connector, as the contract has it: one schema for each type, told apart by `type`. */

const UNION = 'NewConnector';
const TYPES = Object.keys(CONNECTOR_SCHEMAS);

const requestName = (type: string) => `New${pascal(type)}Connector`;
const configName = (type: string) => `${pascal(type)}Config`;

const requestSchema = (type: string): SchemaObject => ({
  type: 'object',
  required: ['name', 'type', 'config'],
  properties: {
    name: propertySchema(NewConnectorDto, 'name'),
    type: { type: 'string', enum: [type] },
    config: ref(configName(type)),
    enabled: propertySchema(NewConnectorDto, 'enabled'),
    priority: propertySchema(NewConnectorDto, 'priority'),
  },
  additionalProperties: false,
});

export const CONNECTOR_REQUEST_SCHEMAS = Object.fromEntries([
  ...Object.entries(CONNECTOR_SCHEMAS).flatMap(([type, schema]) => [
    [requestName(type), requestSchema(type)] as const,
    ...Object.entries(namedSchemas(configName(type), pascal(type), schema)),
  ]),
  [
    UNION,
    {
      description: 'What is to be set up. `type` says which configuration there is.',
      oneOf: TYPES.map((type) => ref(requestName(type))),
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(TYPES.map((type) => [type, ref(requestName(type)).$ref])),
      },
    },
  ],
]) as Readonly<Record<string, SchemaObject>>;

/** Documents the body of a request for a connector. */
export const ApiConnectorRequest = (): MethodDecorator =>
  applyDecorators(
    ApiSchemas(CONNECTOR_REQUEST_SCHEMAS),
    ApiBody({ required: true, schema: ref(UNION) }),
  );
