import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import type { ValidationError as Failure } from 'class-validator';
import { type FieldError, ValidationError } from '../errors/app-error.js';
import { withFreeObjectsHeld } from './free-objects.js';

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

class FaithfulValidationPipe extends ValidationPipe {
  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { metatype, type } = metadata;
    // What a decorator of ours gives (the principal, for one) is no input: a copy would lose its methods.
    const isInput = metatype !== undefined && type !== 'custom';
    const held = isInput ? withFreeObjectsHeld(value, metatype as new () => object) : value;
    return super.transform(held, metadata);
  }

  /** Would drop keys such as `prototype` from free objects. The dangerous ones are refused before: see json-defects.ts. */
  protected override stripProtoKeys(): void {
    return undefined;
  }
}

/** Unknown fields are refused, not dropped; nothing is converted but what a DTO declares. */
export function createValidationPipe(): ValidationPipe {
  return new FaithfulValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    validationError: { target: false, value: false },
    exceptionFactory: (failures) => new ValidationError(fieldErrors(failures)),
  });
}
