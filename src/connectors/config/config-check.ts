import { Ajv, type ErrorObject } from 'ajv';
import { type FieldError, MOST_ERRORS } from '../../platform/errors/app-error.js';
import { shownName, shownStart } from '../../platform/text.js';
import type { ConfigSchema, StringSchema } from './config-schema.js';

/** `ownProperties`: a field may be called `constructor`. `verbose`: an error knows its schema, which the message quotes. */
const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  ownProperties: true,
  allowUnionTypes: true,
  keywords: ['x-ignore-case'],
  formats: {
    uri: (text: string) => addressRule(text, 'uri') === undefined,
    'uri-with-query': (text: string) => addressRule(text, 'uri-with-query') === undefined,
  },
});

type AddressFormat = NonNullable<StringSchema['format']>;

type Rule = readonly [code: string, text: string];

/** The keywords that messages quote. */
interface Keywords {
  readonly type: unknown;
  readonly enum: readonly string[];
  readonly pattern: string;
  readonly format: AddressFormat;
  readonly minimum: number;
  readonly maximum: number;
  readonly minLength?: number;
  readonly maxLength: number;
  readonly minItems?: number;
  readonly maxItems: number;
  readonly minProperties?: number;
  readonly maxProperties: number;
}

/**
 * What of a configuration its type's schema does not allow: one error for each wrong field, named by its dotted path.
 * The messages quote the schema and never the configuration, because any value may be a secret.
 */
export function configProblems(schema: ConfigSchema, config: unknown, path: string): FieldError[] {
  // Ajv compiles each schema once. There are as many schemas as types of connectors.
  const validate = ajv.compile(schema);
  validate(config);
  const errors = validate.errors ?? [];
  const found = new Map<string, FieldError>();
  // What is of the wrong type or too long is none of the known values either: that alone would help nobody.
  const wrongOtherwise = new Set(
    errors.filter(({ keyword }) => keyword !== 'enum').map(({ instancePath }) => instancePath),
  );
  for (const error of errors) {
    if (error.keyword === 'enum' && wrongOtherwise.has(error.instancePath)) continue;
    // Says what is wrong with a name. The error of the keyword `propertyNames`, which follows, says that it is not allowed.
    if (error.propertyName !== undefined) continue;
    const pointer = pointerOf(error);
    const isToldAlready = [...found.keys()].some((told) => `${pointer}/`.startsWith(`${told}/`));
    if (!isToldAlready) found.set(pointer, fieldError(path, pointer, ruleOf(error)));
    if (found.size === MOST_ERRORS) break;
  }
  return [...found.values()];
}

/** The JSON pointer of the wrong field. Where a name is missing or not allowed, ajv gives that of the object around it. */
function pointerOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty, propertyName } = params as Record<string, string>;
  const name = missingProperty ?? additionalProperty ?? propertyName;
  return name === undefined ? instancePath : `${instancePath}/${escapeJsonPointer(name)}`;
}

function fieldError(path: string, pointer: string, [code, text]: Rule): FieldError {
  // A name that the sender made up may be as long as the body.
  const names = pointer.split('/').slice(1).map(unescapeJsonPointer).map(shownName);
  const field = shownStart([path, ...names].join('.'), 200);
  return { field, code, message: `${field} ${text}.` };
}

function escapeJsonPointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapeJsonPointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function ruleOf({ keyword, parentSchema, data }: ErrorObject): Rule {
  const schema = parentSchema as Keywords;
  switch (keyword) {
    case 'required':
      return ['required', 'is required'];
    case 'additionalProperties':
      return ['unknown_field', 'is not a known field'];
    case 'propertyNames':
      return ['unknown_field', 'is not a known name'];
    case 'minProperties':
    case 'maxProperties':
      return ['size', `must have ${schema.minProperties ?? 0} to ${schema.maxProperties} entries`];
    case 'minItems':
    case 'maxItems':
      return ['size', `must have ${schema.minItems ?? 0} to ${schema.maxItems} entries`];
    case 'uniqueItems':
      return ['unique', 'must not name anything twice'];
    case 'minLength':
    case 'maxLength':
      return ['length', `must have ${schema.minLength ?? 0} to ${schema.maxLength} characters`];
    case 'enum':
      return ['is_in', `must be one of ${schema.enum.join(', ')}`];
    case 'pattern':
      return ['matches', `must match ${schema.pattern}`];
    case 'format':
      return ['is_url', addressRule(String(data), schema.format)!];
    default:
      return typeRule(schema);
  }
}

function typeRule(schema: Keywords): Rule {
  switch (schema.type) {
    case 'string':
      return ['is_string', 'must be a string'];
    case 'integer':
      return ['is_int', `must be a whole number from ${schema.minimum} to ${schema.maximum}`];
    case 'boolean':
      return ['is_boolean', 'must be true or false'];
    case 'array':
      return ['is_array', 'must be a list'];
    case 'object':
      return ['is_json_object', 'must be an object'];
    default:
      return ['object_or_string', 'must be an object or a string'];
  }
}

/** What is wrong with an address, stricter than the format that JSON Schema calls `uri`; undefined when nothing is. */
function addressRule(text: string, format: AddressFormat): string | undefined {
  if (!URL.canParse(text)) return 'must be a whole address';
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an https or http address';
  const forbidden = username + password + hash + (format === 'uri' ? search : '');
  if (forbidden === '') return undefined;
  return format === 'uri'
    ? 'must have no user, password, query or fragment'
    : 'must have no user, password or fragment';
}
