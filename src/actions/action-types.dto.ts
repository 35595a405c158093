import { ACTION_TYPES, type ActionType, actionTypes } from '../action-catalogue/action-types.js';
import { REQUIRED_LEVELS, type RequiredLevel } from './action.js';
import {
  FORMATS,
  PARAMETER_FORMATS,
  type ParameterFormat,
  FORMAT_SCHEMAS,
  parameterSchema,
} from '../action-catalogue/parameters.js';
import {
  Choice,
  Flag,
  NestedList,
  OpenChoice,
  Text,
  Texts,
} from '../platform/validation/fields.js';
import { applyDecorators } from '@nestjs/common';
import { ApiBody, type SchemaObject } from '@nestjs/swagger';
import { ApiSchemas, pascal, ref } from '../platform/openapi/answers.js';
import { REPEAT } from './actions.dto.js';

class ActionParameterDto {
  @Text()
  readonly name: string;

  @Choice('ActionParameterType', ['string', 'integer'])
  readonly type: 'string' | 'integer';

  @Flag()
  readonly required: boolean;

  @Texts({ optional: true, description: 'Allowed values, if the set is closed.' })
  readonly values?: readonly string[];

  @Choice('ActionParameterFormat', PARAMETER_FORMATS, {
    optional: true,
    description: [
      'Format of the string:',
      ...PARAMETER_FORMATS.map((format) => `- \`${format}\`: ${FORMATS[format].words}`),
    ].join('\n'),
  })
  readonly format?: ParameterFormat;
}

export class ActionTypeDto {
  @OpenChoice('ActionTypeName', ACTION_TYPES)
  readonly name: string;

  @Text()
  readonly description: string;

  @Text({
    description:
      'email, endpoint, identity, network, intelligence, ticketing or notification; an open set.',
  })
  readonly category: string;

  @Flag()
  readonly supports_rollback: boolean;

  @OpenChoice('ActionTypeName', ACTION_TYPES, {
    optional: true,
    description: 'Type of the rollback.',
  })
  readonly rolled_back_by?: string;

  @Choice('RequiredLevel', REQUIRED_LEVELS, {
    optional: true,
    description: 'Level that this site requires by default. Absent if the type needs no approval.',
  })
  readonly default_approval_level?: RequiredLevel;

  @NestedList(() => ActionParameterDto)
  readonly parameters: readonly ActionParameterDto[];

  @Flag({ description: 'Whether an enabled connector provides the type.' })
  readonly available: boolean;
}

/* The contract has one request schema per action type, with `action` as the discriminator. */

const UNION = 'ActionRequest';
const requestOf = ({ name }: ActionType) => `${pascal(name)}Request`;

const object = (
  description: string,
  required: string[],
  properties: SchemaObject['properties'],
): SchemaObject => ({
  type: 'object',
  description,
  required,
  properties,
  additionalProperties: false,
});

function schemasOf(type: ActionType): [string, SchemaObject][] {
  const { parameters, target } = type;
  const nameOfParameters = `${pascal(type.name)}Parameters`;
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  const properties = parameters.map((parameter) => {
    const { name, values } = parameter;
    if (values) return [name, ref(pascal(name))] as const;
    return [name, parameterSchema(parameter, name === target?.parameter)] as const;
  });
  const request = object(type.description, ['action', 'parameters'], {
    action: { type: 'string', enum: [type.name] },
    parameters: ref(nameOfParameters),
    repeat: { type: 'boolean', description: REPEAT },
  });
  return [
    [requestOf(type), request],
    [
      nameOfParameters,
      object(`Parameters of ${type.name}.`, required, Object.fromEntries(properties)),
    ],
    // Enumerations have names, so that generated clients have types for them.
    ...parameters.flatMap(({ name, values }): [string, SchemaObject][] =>
      values ? [[pascal(name), { type: 'string', enum: [...values] }]] : [],
    ),
  ];
}

export const ACTION_REQUEST_SCHEMAS: Readonly<Record<string, SchemaObject>> = {
  ...FORMAT_SCHEMAS,
  ...Object.fromEntries(actionTypes().flatMap(schemasOf)),
  [UNION]: {
    description: 'Request for an action. `action` determines the parameters.',
    oneOf: actionTypes().map((type) => ref(requestOf(type))),
    discriminator: {
      propertyName: 'action',
      mapping: Object.fromEntries(
        actionTypes().map((type) => [type.name, ref(requestOf(type)).$ref]),
      ),
    },
  },
};

export const ApiActionRequest = (): MethodDecorator =>
  applyDecorators(
    ApiSchemas(ACTION_REQUEST_SCHEMAS),
    ApiBody({ required: true, schema: ref(UNION) }),
  );
