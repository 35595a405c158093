import type { OpenAPIObject, ReferenceObject, SchemaObject } from '@nestjs/swagger';
import { type ActionType, actionTypes } from '../../src/action-catalogue/action-types.js';
import {
  type ActionParameter,
  FORMATS,
  LARGEST_NUMBER,
  LONGEST_DOMAIN,
  LONGEST_TEXT,
  PARAMETER_FORMATS,
  type ParameterFormat,
} from '../../src/action-catalogue/parameters.js';
import { pascal, ref } from '../../src/platform/openapi/answers.js';
import { SAYS_SOMETHING } from '../../src/platform/text.js';

type Schema = SchemaObject | ReferenceObject;
type Named = readonly [name: string, schema: Schema];

/** Replaces the request for an action by one request for each type. A test compares the schemas with parameterErrors. */
export function addActionRequests({ components }: OpenAPIObject): void {
  const schemas = components!.schemas!;
  const { repeat } = (schemas['ActionRequestDto'] as SchemaObject).properties!;
  const mapping = actionTypes().map(({ name }) => [name, ref(requestOf(name)).$ref] as const);
  Object.assign(
    schemas,
    Object.fromEntries(PARAMETER_FORMATS.map(formatSchema)),
    Object.fromEntries(actionTypes().flatMap((type) => schemasOf(type, repeat!))),
  );
  schemas['ActionRequestDto'] = {
    description: 'Request for an action. `action` determines the parameters.',
    oneOf: mapping.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'action', mapping: Object.fromEntries(mapping) },
  };
}

const requestOf = (type: string) => `${pascal(type)}Request`;

function schemasOf({ name, description, parameters, target }: ActionType, repeat: Schema): Named[] {
  const nameOfParameters = `${pascal(name)}Parameters`;
  const required = parameters.filter((parameter) => parameter.required);
  const request = objectSchema(description, ['action', 'parameters'], {
    action: { type: 'string', enum: [name] },
    parameters: ref(nameOfParameters),
    repeat,
  });
  const shown = objectSchema(
    `Parameters of ${name}.`,
    required.map((parameter) => parameter.name),
    Object.fromEntries(
      parameters.map((parameter) => {
        return [parameter.name, parameterSchema(parameter, parameter.name === target?.parameter)];
      }),
    ),
  );
  // Enumerations have names, so that generated clients have types for them.
  const enums = parameters.flatMap(({ name: parameter, values }): Named[] =>
    values ? [[pascal(parameter), { type: 'string', enum: [...values] }]] : [],
  );
  return [[requestOf(name), request], [nameOfParameters, shown], ...enums];
}

function objectSchema(
  description: string,
  required: string[],
  properties: Record<string, Schema>,
): SchemaObject {
  return { type: 'object', description, required, properties, additionalProperties: false };
}

/** Pattern of a target: not blank, without control characters. */
const TARGET = '^[^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f][^\\x00-\\x1f\\x7f]*$';

function parameterSchema(
  { name, type, values, format }: ActionParameter,
  isTarget: boolean,
): Schema {
  if (values) return ref(pascal(name));
  if (type === 'integer') {
    return { type: 'integer', format: 'int32', minimum: 1, maximum: LARGEST_NUMBER };
  }
  if (format) return ref(FORMAT_SCHEMAS[format].name);
  const pattern = isTarget ? TARGET : SAYS_SOMETHING;
  return { type: 'string', minLength: 1, maxLength: LONGEST_TEXT, pattern };
}

function formatSchema(format: ParameterFormat): Named {
  const { name, ...rules } = FORMAT_SCHEMAS[format];
  const { words } = FORMATS[format];
  const description = `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
  return [name, { type: 'string', minLength: 1, ...rules, description }];
}

// The patterns use only features that every language supports: ASCII, no lookaround.
const LABEL = '[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const DOMAIN_PATTERN = `(${LABEL}\\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?`;
const MAILBOX = '[^\\x00-\\x20\\x7f@"(),:;<>\\[\\]\\\\]{1,64}';
const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = `(${OCTET}\\.){3}${OCTET}`;

function ipv6(): string {
  const group = '[0-9A-Fa-f]{1,4}';
  const whole = `(${group}:){6}(${group}:${group}|${IPV4})`;
  const shortened = [0, 1, 2, 3, 4, 5, 6, 7].map((before) => {
    const head = before === 0 ? '' : `${group}(:${group}){${before - 1}}`;
    const after = 7 - before;
    const groups = after === 0 ? [] : [`${group}(:${group}){0,${after - 1}}`];
    const withIpv4 = after < 2 ? [] : [`(${group}:){0,${after - 2}}${IPV4}`];
    const tail = [...groups, ...withIpv4].join('|');
    return `${head}::${tail && `(${tail})?`}`;
  });
  return [whole, ...shortened].join('|');
}

const FORMAT_SCHEMAS = {
  ip: {
    name: 'IpAddress',
    pattern: `^(${IPV4}|${ipv6()})$`,
    maxLength: 45,
    example: '203.0.113.4',
  },
  domain: {
    name: 'DomainName',
    pattern: `^${DOMAIN_PATTERN}$`,
    maxLength: LONGEST_DOMAIN,
    example: 'evil.example',
  },
  url: {
    name: 'WebAddress',
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\x00-\\x1f\\x7f]+$',
    maxLength: LONGEST_TEXT,
    example: 'https://evil.example/login',
  },
  email: {
    name: 'EmailAddress',
    pattern: `^${MAILBOX}@${DOMAIN_PATTERN}$`,
    maxLength: 318,
    example: 'mallory@evil.example',
  },
} satisfies Readonly<Record<ParameterFormat, object>>;
