import { shownStart } from '../text.js';
import { type ErrorCode, statusOf } from './error-catalogue.js';

export interface ErrorExtras {
  /** Becomes `details` of the error object. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Stands in the error object itself, beside `code`; only where the specification says so. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** What a service throws for a caller to see. Knows the code and the words, not HTTP: the one filter maps it. */
export class AppError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly extras: ErrorExtras = {},
  ) {
    super(message, { cause: extras.cause });
    this.name = new.target.name;
  }

  get status(): number {
    return statusOf(this.code);
  }
}

export interface FieldError {
  /** A dotted path, such as `parameters.message_id`. */
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

export function unknownField(field: string, kind: 'field' | 'query parameter'): FieldError {
  return { field, code: 'unknown_field', message: `${field} is not a known ${kind}.` };
}

/** Enough to mend a request; a hostile one could be answered with many times its size. */
export const MOST_ERRORS = 100;
const LONGEST_FIELD = 500;
const LONGEST_MESSAGE = 1_000;

export class ValidationError extends AppError {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    const told = errors.slice(0, MOST_ERRORS).map(bounded);
    super('validation_error', summary(told, errors.length), { details: { errors: told } });
    this.errors = told;
  }

  static of(field: string, code: string, message: string): ValidationError {
    return new ValidationError([{ field, code, message }]);
  }

  /** For a partial update that updates nothing. */
  static nothingGiven(): ValidationError {
    return ValidationError.of('', 'not_empty', 'At least one field must be given.');
  }
}

function bounded({ field, code, message }: FieldError): FieldError {
  return {
    field: shownStart(field, LONGEST_FIELD),
    code,
    message: shownStart(message, LONGEST_MESSAGE),
  };
}

function summary([first]: readonly FieldError[], count: number): string {
  if (!first) return 'The request is not valid.';
  return count === 1 ? first.message : `${first.message} (and ${count - 1} more)`;
}

/** `resource` is what a person calls it: 'Incident', 'Webhook source'. */
export class NotFoundError extends AppError {
  constructor(resource: string) {
    super('not_found', `${resource} not found.`);
  }
}

export class UnavailableError extends AppError {
  constructor(message: string, cause?: unknown, retryAfterSeconds = 5) {
    super('service_unavailable', message, {
      cause,
      headers: { 'retry-after': String(retryAfterSeconds) },
    });
  }
}
