import { ValidationPipe } from '@nestjs/common';
import type { ValidationError as Failure } from 'class-validator';
import { type FieldError, ValidationError } from '../errors/app-error.js';

/** Turns class-validator's tree into the flat list that the error envelope shows. */
export function fieldErrors(failures: readonly Failure[], parent = ''): FieldError[] {
  return failures.flatMap((failure) => {
    const field = parent === '' ? failure.property : `${parent}.${failure.property}`;
    const own = Object.entries(failure.constraints ?? {}).map(([rule, message]) => ({
      field,
      code: rule === 'whitelistValidation' ? 'unknown_field' : snakeCase(rule),
      message:
        rule === 'whitelistValidation'
          ? `${field} is not a known field.`
          : sentence(message, failure.property, field),
    }));
    return [...own, ...fieldErrors(failure.children ?? [], field)];
  });
}

function snakeCase(rule: string): string {
  return rule.replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);
}

function sentence(message: string, property: string, field: string): string {
  const named = message.startsWith(property) ? field + message.slice(property.length) : message;
  return named.endsWith('.') ? named : `${named}.`;
}

/** Unknown fields are refused, not dropped; nothing is converted but what a DTO declares. */
export function createValidationPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    validationError: { target: false, value: false },
    exceptionFactory: (failures) => new ValidationError(fieldErrors(failures)),
  });
}
