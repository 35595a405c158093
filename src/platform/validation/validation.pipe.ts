import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type ValidationError as Failure, getMetadataStorage, validateSync } from 'class-validator';
import {
  type FieldError,
  MOST_ERRORS,
  unknownField,
  ValidationError,
} from '../errors/app-error.js';
import { isUuid } from '../ids.js';
import { shownName } from '../text.js';
import { LONGEST_LIST, readsNullAsAbsent } from './fields.js';
import { nestedClass } from './present.js';

type Json = Record<string, unknown>;
type Class = new () => object;

/** Converts the input of a request to its declared class and validates it. Rejects unknown fields. */
@Injectable()
export class StrictValidationPipe implements PipeTransform {
  transform(value: unknown, { metatype, type }: ArgumentMetadata): unknown {
    // Converts ids to lower case, so that responses, the audit trail and memory contain one spelling.
    if (type === 'param' && isUuid(value)) return value.toLowerCase();
    // Our own decorators provide values that are not input, such as the principal.
    if (!metatype || type === 'custom') return value;
    const target = metatype as Class;
    if (shapeOf(target).fields.size === 0) return value;
    const names: string[] = [];
    const given = instanceOf(value ?? {}, target, names) as object;
    // Converts query parameters from text. A body has no fields to convert, and a copy of it would be expensive.
    const instance = type === 'query' ? plainToInstance(target, given) : given;
    const failures = validateSync(instance, { validationError: { target: false } });
    const kind = type === 'query' ? 'query parameter' : 'field';
    const errors = [...names.map((name) => unknownField(name, kind)), ...fieldErrors(failures)];
    if (errors.length > 0) throw new ValidationError(errors);
    return instance;
  }
}

interface Shape {
  /** Fields that have rules. The value is the class of a nested object. */
  readonly fields: ReadonlyMap<string, Class | undefined>;
  readonly leavesOutNull: boolean;
}

const shapes = new WeakMap<Class, Shape>();

function shapeOf(target: Class): Shape {
  let shape = shapes.get(target);
  if (!shape) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
    const fields = new Map(
      rules.map(({ propertyName: name }) => [name, nestedClass(target, name)] as const),
    );
    shape = { fields, leavesOutNull: readsNullAsAbsent(target) };
    shapes.set(target, shape);
  }
  return shape;
}

/**
 * Returns an instance with the declared fields. Leaves free-form JSON unchanged, and truncates lists: a body full of
 * unknown fields or list items could block the service for seconds.
 * @param unknown receives the dotted paths of the unknown fields
 */
function instanceOf(value: unknown, target: Class, unknown: string[], path = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.slice(0, LONGEST_LIST + 1) as unknown[];
    return items.map((item, index) => instanceOf(item, target, unknown, `${path}${index}.`));
  }
  if (typeof value !== 'object' || value === null) return value;
  const { fields, leavesOutNull } = shapeOf(target);
  const instance = new target() as Json;
  // Object.entries takes three times as long for an object with many keys.
  for (const key of Object.keys(value)) {
    const field = (value as Json)[key];
    if (!fields.has(key)) {
      if (unknown.length < MOST_ERRORS) unknown.push(path + shownName(key));
    } else if (field !== null || !leavesOutNull) {
      const nested = fields.get(key);
      if (nested) instance[key] = instanceOf(field, nested, unknown, `${path}${key}.`);
      else instance[key] = Array.isArray(field) ? field.slice(0, LONGEST_LIST + 1) : field;
    }
  }
  return instance;
}

/** Rules about the type of a value. If such a rule fails, the other rules of the field are not reported. */
const KINDS = new Set(['isString', 'isBoolean', 'isNumber', 'isInt', 'isArray', 'isJsonObject']);

function fieldErrors(failures: readonly Failure[], parent = ''): FieldError[] {
  return failures.flatMap(({ property, constraints, value, children }) => {
    const field = `${parent}${property}`;
    const rules = Object.entries(constraints ?? {});
    // An undefined value means that the field is absent, because JSON and queries have no undefined.
    if (rules.length > 0 && value === undefined) {
      return [{ field, code: 'required', message: `${field} is required.` }];
    }
    const kind = rules.find(([rule]) => KINDS.has(rule));
    if (kind) return [errorOf(kind, property, field)];
    const own = rules.map((rule) => errorOf(rule, property, field));
    return [...own, ...fieldErrors(children ?? [], `${field}.`)];
  });
}

function errorOf([rule, text]: [string, string], property: string, field: string): FieldError {
  const rest = text.startsWith(property) ? text.slice(property.length) : undefined;
  // The error of a list item contains the index of the item: `steps.0 must be an object`.
  const [item = ''] = /^\.\d+(?= )/.exec(rest ?? '') ?? [];
  const code = rule.replace(/\B[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  const message = rest === undefined ? text : field + rest;
  return { field: field + item, code, message: message.endsWith('.') ? message : `${message}.` };
}

/* class-validator searches the rules of all classes for each object, so each route would slow down all others. */
const storage = getMetadataStorage();
storage.getTargetValidationMetadatas = cached(storage.getTargetValidationMetadatas.bind(storage));
storage.groupByPropertyName = cached(storage.groupByPropertyName.bind(storage));

function cached<Key extends object, Rest extends unknown[], Found>(
  lookUp: (key: Key, ...rest: Rest) => Found,
): typeof lookUp {
  const known = new WeakMap<Key, Found>();
  return (key, ...rest) => {
    const found = known.get(key) ?? lookUp(key, ...rest);
    known.set(key, found);
    return found;
  };
}
