import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import { type ValidationError as Failure, getMetadataStorage } from 'class-validator';
import { type FieldError, unknownField, ValidationError } from '../errors/app-error.js';
import { isUuid } from '../ids.js';
import { shieldJson } from './json-shield.js';

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
  if (rule === 'whitelistValidation') return unknownField(field, 'field');
  // An error of a list item names the item: `steps.0 must be an object`.
  const [item = ''] = /^\.\d+(?= )/.exec(message.slice(property.length)) ?? [];
  return {
    field: field + item,
    code: snakeCase(rule),
    message: sentence(message, property, field),
  };
}

function errorsOf(thrown: unknown): readonly FieldError[] {
  if (thrown instanceof ValidationError) return thrown.errors;
  throw thrown;
}

function snakeCase(rule: string): string {
  return rule.replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);
}

function sentence(message: string, property: string, field: string): string {
  const named = message.startsWith(property) ? field + message.slice(property.length) : message;
  return named.endsWith('.') ? named : `${named}.`;
}

class FaithfulValidationPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype, type } = metadata;
    // From here on every id has one spelling: in responses, the audit trail and memory.
    if (type === 'param' && isUuid(value)) return value.toLowerCase();
    // Values of our own decorators, such as the principal, are not input. A copy would lose their methods.
    if (metatype === undefined || type === 'custom') return super.transform(value, metadata);
    const shielded = shieldJson(value, metatype as new () => object);
    const kind = type === 'query' ? 'query parameter' : 'field';
    const unknown = shielded.unknownFields.map((field) => unknownField(field, kind));
    if (unknown.length === 0) return super.transform(shielded.value, metadata);
    const others = await super.transform(shielded.value, metadata).then(() => [], errorsOf);
    throw new ValidationError([...unknown, ...others]);
  }

  /**
   * The default would drop keys such as `prototype` from free-form JSON. Dangerous keys are already rejected: see
   * json-defects.ts.
   */
  protected override stripProtoKeys(): void {
    return undefined;
  }
}

/** Rejects unknown fields, and converts only what a DTO declares. */
export function createValidationPipe(): ValidationPipe {
  cacheRules();
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

type Storage = ReturnType<typeof getMetadataStorage>;
type Rules = ReturnType<Storage['getTargetValidationMetadatas']>;
type RulesByProperty = ReturnType<Storage['groupByPropertyName']>;

let installed = false;

/**
 * Caches the rules per class. For each object class-validator searches all classes with rules for inherited ones, so
 * each new route slows all others. The rules of a class are complete once it is defined. Rules in groups, which this
 * service does not use, are not cached.
 */
export function cacheRules(): void {
  if (installed) return;
  installed = true;
  const storage = getMetadataStorage();
  const lookUp = storage.getTargetValidationMetadatas.bind(storage);
  const group = storage.groupByPropertyName.bind(storage);
  const rules = new Map<string, WeakMap<object, Rules>>();
  const grouped = new WeakMap<Rules, RulesByProperty>();

  storage.getTargetValidationMetadatas = (target, schema, always, strictGroups, groups) => {
    if (schema || (groups && groups.length > 0)) {
      return lookUp(target, schema, always, strictGroups, groups);
    }
    const options = `${always} ${strictGroups}`;
    const ofClasses = rules.get(options) ?? new WeakMap<object, Rules>();
    rules.set(options, ofClasses);
    const found = ofClasses.get(target) ?? lookUp(target, schema, always, strictGroups, groups);
    ofClasses.set(target, found);
    return found;
  };
  storage.groupByPropertyName = (metadata) => {
    const found = grouped.get(metadata) ?? group(metadata);
    grouped.set(metadata, found);
    return found;
  };
}
