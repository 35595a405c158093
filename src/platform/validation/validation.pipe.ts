import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import type { ValidationError as Failure } from 'class-validator';
import { type FieldError, unknownField, ValidationError } from '../errors/app-error.js';
import { isUuid } from '../ids.js';
import { shieldJson } from './json-shield.js';
import { cacheRules } from './rule-cache.js';

/** The rules that say of what kind a value is. Of a value of another kind nothing else is said. */
const KINDS = new Set(['isString', 'isBoolean', 'isNumber', 'isInt', 'isArray', 'isJsonObject']);

/** Turns class-validator's tree into the flat list that the error envelope shows. */
export function fieldErrors(failures: readonly Failure[], parent = ''): FieldError[] {
  return failures.flatMap((failure) => {
    const field = parent === '' ? failure.property : `${parent}.${failure.property}`;
    const rules = Object.entries(failure.constraints ?? {});
    // JSON has no undefined, nor has a query: the field was left out.
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
  // What is wrong with an item of a list says which one it is: `steps.0 must be an object`.
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
    // Whatever comes after sees an id in one spelling: the answer, the audit trail, what is kept in memory.
    if (type === 'param' && isUuid(value)) return value.toLowerCase();
    // What one of our own decorators gives, such as the principal, is no input: a copy would lose its methods.
    if (metatype === undefined || type === 'custom') return super.transform(value, metadata);
    const shielded = shieldJson(value, metatype as new () => object);
    const kind = type === 'query' ? 'query parameter' : 'field';
    const unknown = shielded.unknownFields.map((field) => unknownField(field, kind));
    if (unknown.length === 0) return super.transform(shielded.value, metadata);
    const others = await super.transform(shielded.value, metadata).then(() => [], errorsOf);
    throw new ValidationError([...unknown, ...others]);
  }

  /** It would drop keys such as `prototype` from JSON of any content. Dangerous keys were refused before: see json-defects.ts. */
  protected override stripProtoKeys(): void {
    return undefined;
  }
}

/** Unknown fields are refused, not dropped; nothing is converted but what a DTO declares. */
export function createValidationPipe(): ValidationPipe {
  cacheRules();
  return new FaithfulValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    // By the value fieldErrors knows a field that was left out. No answer shows it.
    validationError: { target: false, value: true },
    exceptionFactory: (failures) => new ValidationError(fieldErrors(failures)),
  });
}
