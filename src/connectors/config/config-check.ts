import { Ajv, type ErrorObject } from 'ajv';
import { type FieldError, MOST_ERRORS } from '../../platform/errors/app-error.js';
import { shownName, shownStart } from '../../platform/text.js';
import {
  type ConfigSchema,
  type StringSchema,
  type Config,
  ignoresCase,
  isMap,
  isObject,
} from './config-schema.js';

/** `ownProperties`: a field may be named `constructor`. `verbose`: messages quote the schema of the error. */
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

/** Keywords that messages quote. */
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
 * Validates a configuration against the schema of its type. Returns one error per invalid field, with its dotted path.
 * Messages never quote the configuration, because values may be secrets.
 */
export function configProblems(schema: ConfigSchema, config: unknown, path: string): FieldError[] {
  // Ajv caches each compiled schema. There is one per type.
  const validate = ajv.compile(schema);
  validate(config);
  const errors = validate.errors ?? [];
  const found = new Map<string, FieldError>();
  // A value of the wrong type or length is not reported a second time as an unknown value.
  const wrongOtherwise = new Set(
    errors.filter(({ keyword }) => keyword !== 'enum').map(({ instancePath }) => instancePath),
  );
  for (const error of errors) {
    if (error.keyword === 'enum' && wrongOtherwise.has(error.instancePath)) continue;
    // Describes an invalid name. The following error of the keyword `propertyNames` reports it.
    if (error.propertyName !== undefined) continue;
    const pointer = pointerOf(error);
    const isToldAlready = [...found.keys()].some((told) => `${pointer}/`.startsWith(`${told}/`));
    if (!isToldAlready) found.set(pointer, fieldError(path, pointer, ruleOf(error)));
    if (found.size === MOST_ERRORS) break;
  }
  return [...found.values()];
}

/** JSON pointer of the invalid field. For a missing or unknown name, ajv points to the object around it. */
function pointerOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty, propertyName } = params as Record<string, string>;
  const name = missingProperty ?? additionalProperty ?? propertyName;
  return name === undefined ? instancePath : `${instancePath}/${escapeJsonPointer(name)}`;
}

function fieldError(path: string, pointer: string, [code, text]: Rule): FieldError {
  // A name in the request may be as long as the body.
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
      return ['unique', 'must not contain duplicates'];
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

/** Fault of an address, stricter than the JSON Schema format `uri`; `undefined` if it is valid. */
function addressRule(text: string, format: AddressFormat): string | undefined {
  if (!URL.canParse(text)) return 'must be an absolute address';
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an https or http address';
  const forbidden = username + password + hash + (format === 'uri' ? search : '');
  if (forbidden === '') return undefined;
  return format === 'uri'
    ? 'must have no user, password, query or fragment'
    : 'must have no user, password or fragment';
}

/** Finds names that differ only in case in case-insensitive maps, because it would be undefined which one is sent. */
export function twinNameProblems(
  { properties }: ConfigSchema,
  config: Config,
  path: string,
): FieldError[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const map = Object.hasOwn(config, name) ? config[name] : undefined;
    if (!isMap(property) || !ignoresCase(property) || !isObject(map)) return [];
    const seen = new Set<string>();
    return Object.keys(map).flatMap((key) => {
      const isTwin = seen.has(key.toLowerCase());
      seen.add(key.toLowerCase());
      const field = shownStart(`${path}.${name}.${shownName(key)}`, 200);
      const message = `${field} is given twice: its names are case-insensitive.`;
      return isTwin ? [{ field, code: 'unique', message }] : [];
    });
  });
}
