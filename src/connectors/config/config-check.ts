import { type FieldError, MOST_ERRORS } from '../../platform/errors/app-error.js';
import { shownName, shownStart } from '../../platform/text.js';
import {
  type ConfigSchema,
  type IntegerSchema,
  isMap,
  isObject,
  type ListSchema,
  type MapSchema,
  type StringSchema,
  type ValueSchema,
} from './config-schema.js';

/** What of a configuration its type's schema does not allow; each field as a dotted path. */
export function configProblems(schema: ConfigSchema, config: unknown, path: string): FieldError[] {
  return problemsOf(schema, config, path);
}

function problemsOf(schema: ValueSchema, value: unknown, path: string): FieldError[] {
  if (schema.type === 'string') return stringProblems(schema, value, path);
  if (schema.type === 'integer') return integerProblems(schema, value, path);
  if (schema.type === 'boolean') {
    return typeof value === 'boolean' ? [] : [problem(path, 'is_boolean', 'must be true or false')];
  }
  if (schema.type === 'array') return listProblems(schema, value, path);
  if (schema.type !== 'object') {
    const fits = isObject(value) || typeof value === 'string';
    return fits ? [] : [problem(path, 'object_or_string', 'must be an object or a string')];
  }
  if (!isObject(value)) return [problem(path, 'is_json_object', 'must be an object')];
  return isMap(schema) ? mapProblems(schema, value, path) : objectProblems(schema, value, path);
}

function objectProblems(
  schema: ConfigSchema,
  value: Record<string, unknown>,
  path: string,
): FieldError[] {
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(schema.properties, name));
  const missing = schema.required.filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => problem(`${path}.${name}`, 'required', 'is required')),
    ...unknown
      .slice(0, MOST_ERRORS)
      .map((name) => problem(fieldIn(path, name), 'unknown_field', 'is not a known field')),
    ...Object.entries(schema.properties).flatMap(([name, property]) =>
      Object.hasOwn(value, name) ? problemsOf(property, value[name], `${path}.${name}`) : [],
    ),
  ];
}

function mapProblems(
  schema: MapSchema,
  value: Record<string, unknown>,
  path: string,
): FieldError[] {
  const names = Object.keys(value);
  const { minProperties = 0, maxProperties } = schema;
  if (names.length < minProperties || names.length > maxProperties) {
    const text = `must have ${minProperties} to ${maxProperties} entries`;
    return [problem(path, 'size', text)];
  }
  return names.flatMap((name) => {
    const field = fieldIn(path, name);
    if (!allowsName(schema, name)) return [problem(field, 'unknown_field', 'is not a known name')];
    return problemsOf(schema.additionalProperties, value[name], field);
  });
}

function allowsName({ propertyNames }: MapSchema, name: string): boolean {
  return 'enum' in propertyNames
    ? propertyNames.enum.includes(name)
    : new RegExp(propertyNames.pattern).test(name);
}

function listProblems(schema: ListSchema, value: unknown, path: string): FieldError[] {
  if (!Array.isArray(value)) return [problem(path, 'is_array', 'must be a list')];
  if (value.length > schema.maxItems) {
    return [problem(path, 'size', `must have at most ${schema.maxItems} entries`)];
  }
  if (schema.uniqueItems && new Set(value).size < value.length) {
    return [problem(path, 'unique', 'must not name anything twice')];
  }
  return value.flatMap((item, index) => problemsOf(schema.items, item, `${path}.${index}`));
}

function stringProblems(schema: StringSchema, value: unknown, path: string): FieldError[] {
  if (typeof value !== 'string') return [problem(path, 'is_string', 'must be a string')];
  const { minLength = 0, maxLength, pattern } = schema;
  if (value.length < minLength || value.length > maxLength) {
    return [problem(path, 'length', `must have ${minLength} to ${maxLength} characters`)];
  }
  if (schema.enum && !schema.enum.includes(value)) {
    return [problem(path, 'is_in', `must be one of ${schema.enum.join(', ')}`)];
  }
  if (pattern !== undefined && !new RegExp(pattern).test(value)) {
    return [problem(path, 'matches', `must match ${pattern}`)];
  }
  return schema.format === 'uri' ? addressProblems(value, path) : [];
}

function addressProblems(value: string, path: string): FieldError[] {
  if (!URL.canParse(value)) return [problem(path, 'is_url', 'must be a whole address')];
  const { protocol, username, password, search, hash } = new URL(value);
  if (protocol !== 'https:' && protocol !== 'http:') {
    return [problem(path, 'is_url', 'must be an https or http address')];
  }
  return username + password + search + hash === ''
    ? []
    : [problem(path, 'is_url', 'must have no user, password, query or fragment')];
}

function integerProblems(schema: IntegerSchema, value: unknown, path: string): FieldError[] {
  const { minimum, maximum } = schema;
  return typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= minimum &&
    value <= maximum
    ? []
    : [problem(path, 'is_int', `must be a whole number from ${minimum} to ${maximum}`)];
}

/** A name that the sender made up may be as long as the body. */
function fieldIn(path: string, name: string): string {
  return `${path}.${shownName(name)}`;
}

function problem(path: string, code: string, text: string): FieldError {
  const field = shownStart(path, 200);
  return { field, code, message: `${field} ${text}.` };
}
