import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import { type ValidationError as Failure, getMetadataStorage } from 'class-validator';
import { type FieldError, unknownField, ValidationError } from '../errors/app-error.js';
import { isUuid } from '../ids.js';
import { shieldJson } from './json-shield.js';

/** Rules about the type of a value. If one fails, other rules of the field are not reported. */
const KINDS = new Set(['isString', 'isBoolean', 'isNumber', 'isInt', 'isArray', 'isJsonObject']);

/** Flattens the error tree of class-validator to the list in error responses. */
function fieldErrors(failures: readonly Failure[], parent = ''): FieldError[] {
  return failures.flatMap(({ property, constraints, value, children }) => {
    const field = `${parent}${property}`;
    const rules = Object.entries(constraints ?? {});
    // JSON and queries have no undefined, so the field is absent.
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
  // An error of a list item names the item: `steps.0 must be an object`.
  const [item = ''] = /^\.\d+(?= )/.exec(rest ?? '') ?? [];
  const code = rule.replace(
    /[A-Z]/g,
    (letter, at) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`,
  );
  const message = rest === undefined ? text : field + rest;
  return { field: field + item, code, message: message.endsWith('.') ? message : `${message}.` };
}

function errorsOf(thrown: unknown): readonly FieldError[] {
  if (thrown instanceof ValidationError) return thrown.errors;
  throw thrown;
}

class FaithfulValidationPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype, type } = metadata;
    // Converts ids to one spelling for responses, the audit trail and memory.
    if (type === 'param' && isUuid(value)) return value.toLowerCase();
    // Values of our own decorators, such as the principal, are not input. A copy would lose their methods.
    if (metatype === undefined || type === 'custom') return super.transform(value, metadata);
    const names: string[] = [];
    const shielded = shieldJson(value, metatype as new () => object, names);
    if (names.length === 0) return super.transform(shielded, metadata);
    const kind = type === 'query' ? 'query parameter' : 'field';
    const others = await super.transform(shielded, metadata).then(() => [], errorsOf);
    throw new ValidationError([...names.map((name) => unknownField(name, kind)), ...others]);
  }

  /** The default would drop keys such as `prototype` from free-form JSON. strict-json.ts rejects dangerous keys. */
  protected override stripProtoKeys(): void {
    return undefined;
  }
}

/** Rejects unknown fields, and converts only what a DTO declares. */
export function createValidationPipe(): ValidationPipe {
  return new FaithfulValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    // `fieldErrors` recognises an absent field by the value. No response shows the value.
    validationError: { target: false, value: true },
    exceptionFactory: (failures) => new ValidationError(fieldErrors(failures)),
  });
}

/*
 * Caches the rules per class. For each object class-validator searches all classes with rules for inherited ones, so
 * each new route slows all others. The rules of a class are complete once it is defined, and have no groups.
 */
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
