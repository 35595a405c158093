import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import type { ValidationError as Failure } from 'class-validator';
import { type FieldError, unknownField, ValidationError } from '../errors/app-error.js';
import { isUuid } from '../ids.js';
import { shieldJson } from './free-objects.js';
import { rememberRules } from './remembered-rules.js';

/** The rules that say of what kind a value is; of another kind, what else it is not goes without saying. */
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
  return { field, code: snakeCase(rule), message: sentence(message, property, field) };
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
    // One id is one text to all that comes after: the answer, the trail, what is kept in memory.
    if (type === 'param' && isUuid(value)) return value.toLowerCase();
    // What a decorator of ours gives (the principal, for one) is no input: a copy would lose its methods.
    if (metatype === undefined || type === 'custom') return super.transform(value, metadata);
    const held = shieldJson(value, metatype as new () => object);
    const { unknown } = held;
    if (unknown.length === 0) return super.transform(held.value, metadata);
    const others = await super.transform(held.value, metadata).then(() => [], errorsOf);
    const kind = type === 'query' ? 'query parameter' : 'field';
    throw new ValidationError([...unknown.map((field) => unknownField(field, kind)), ...others]);
  }

  /** Would drop keys such as `prototype` from free objects. The dangerous ones are refused before: see json-defects.ts. */
  protected override stripProtoKeys(): void {
    return undefined;
  }
}

/** Unknown fields are refused, not dropped; nothing is converted but what a DTO declares. */
export function createValidationPipe(): ValidationPipe {
  rememberRules();
  return new FaithfulValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    // The value tells a field that was left out; it goes nowhere.
    validationError: { target: false, value: true },
    exceptionFactory: (failures) => new ValidationError(fieldErrors(failures)),
  });
}
