import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { type ValidationError as Failure, getMetadataStorage, validateSync } from 'class-validator';
import {
  type FieldError,
  MOST_ERRORS,
  unknownField,
  ValidationError,
} from '../errors/app-error.js';
import { isUuid } from '../ids.js';
import { shownName } from '../text.js';
import { CONVERSION, LONGEST_LIST, nestedTypeOf, readsNullAsAbsent } from './fields.js';

type Json = Record<string, unknown>;
type Target = new () => object;

/** Types of parameters that are no class with rules. */
const PLAIN = new Set<unknown>([String, Boolean, Number, Array, Object, Buffer, Date]);

/** Copies bodies and queries into instances of their classes, and rejects unknown and invalid fields. */
export class StrictValidationPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    // From here on every id has one spelling: in responses, the audit trail and memory.
    if (type === 'param' && isUuid(value)) return value.toLowerCase();
    // Values of our own decorators, such as the principal, are not input. A copy would lose their methods.
    if (metatype === undefined || type === 'custom' || PLAIN.has(metatype)) return value;
    const unknown: string[] = [];
    const input = instanceOf(metatype as Target, (value ?? {}) as Json, '', unknown);
    const kind = type === 'query' ? 'query parameter' : 'field';
    const errors = [
      ...unknown.map((field) => unknownField(field, kind)),
      ...fieldErrors(validateSync(input)),
    ];
    if (errors.length > 0) throw new ValidationError(errors);
    return input;
  }
}

/** Returns the value of a field for the instance. `path` of the field ends with a dot. */
type Read = (value: unknown, path: string, unknown: string[]) => unknown;

interface Shape {
  readonly fields: ReadonlyMap<string, Read>;
  readonly leavesOutNull: boolean;
}

function instanceOf(type: Target, value: Json, path: string, unknown: string[]): object {
  const { fields, leavesOutNull } = shapeOf(type);
  const result = new type() as Json;
  // Object.entries takes three times as long for an object with many keys.
  for (const key of Object.keys(value)) {
    const read = fields.get(key);
    if (!read) {
      if (unknown.length < MOST_ERRORS) unknown.push(path + shownName(key));
    } else if (value[key] !== null || !leavesOutNull) {
      result[key] = read(value[key], `${path}${key}.`, unknown);
    }
  }
  return result;
}

/** The fields with rules. Free-form JSON and scalars are not copied, and a list is no longer than its rule rejects. */
const shapeOf = cached((type: Target): Shape => {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const fields = rules.map(({ propertyName: name }) => [name, readerOf(type, name)] as const);
  return { fields: new Map(fields), leavesOutNull: readsNullAsAbsent(type) };
});

function readerOf({ prototype }: Target, name: string): Read {
  const nested = nestedTypeOf(prototype as object, name);
  if (nested) {
    const read: Read = (value, path, unknown) => {
      if (Array.isArray(value)) {
        const items = value.slice(0, LONGEST_LIST + 1) as unknown[];
        return items.map((item, index) => read(item, `${path}${index}.`, unknown));
      }
      const isObject = typeof value === 'object' && value !== null;
      return isObject ? instanceOf(nested, value as Json, path, unknown) : value;
    };
    return read;
  }
  const convert = Reflect.getMetadata(CONVERSION, prototype as object, name) as
    ((value: unknown) => unknown) | undefined;
  if (convert) return convert;
  return (value) => (Array.isArray(value) ? value.slice(0, LONGEST_LIST + 1) : value);
}

/** Rules about the type of a value. If one fails, other rules of the field are not reported. */
const KINDS = new Set(['isString', 'isBoolean', 'isNumber', 'isInt', 'isArray', 'isJsonObject']);

/** Flattens the error tree of class-validator to the list in error responses. */
function fieldErrors(failures: readonly Failure[], parent = ''): FieldError[] {
  return failures.flatMap((failure) => {
    const field = parent === '' ? failure.property : `${parent}.${failure.property}`;
    const rules = Object.entries(failure.constraints ?? {});
    // Neither JSON nor a query has undefined: the field is absent.
    if (rules.length > 0 && failure.value === undefined) {
      return [{ field, code: 'required', message: `${field} is required.` }];
    }
    const kind = rules.find(([rule]) => KINDS.has(rule));
    if (kind) return [errorOf(kind, failure.property, field)];
    const own = rules.map((rule) => errorOf(rule, failure.property, field));
    return [...own, ...fieldErrors(failure.children ?? [], field)];
  });
}

function errorOf([rule, message]: [string, string], property: string, field: string): FieldError {
  // An error of a list item names the item: `steps.0 must be an object`.
  const [item = ''] = /^\.\d+(?= )/.exec(message.slice(property.length)) ?? [];
  const named = message.startsWith(property) ? field + message.slice(property.length) : message;
  return {
    field: field + item,
    code: rule.replace(/(?!^)[A-Z]/g, '_$&').toLowerCase(),
    message: named.endsWith('.') ? named : `${named}.`,
  };
}

function cached<Key extends object, Rest extends unknown[], Value>(
  find: (key: Key, ...rest: Rest) => Value,
): (key: Key, ...rest: Rest) => Value {
  const known = new WeakMap<Key, Value>();
  return (key, ...rest) => {
    const value = known.get(key) ?? find(key, ...rest);
    known.set(key, value);
    return value;
  };
}

/*
 * For each object class-validator searches all classes with rules for inherited ones, so each new route slows all others.
 * The rules of a class are complete once it is defined, and this service does not use groups.
 */
const storage = getMetadataStorage();
storage.getTargetValidationMetadatas = cached(storage.getTargetValidationMetadatas.bind(storage));
storage.groupByPropertyName = cached(storage.groupByPropertyName.bind(storage));
