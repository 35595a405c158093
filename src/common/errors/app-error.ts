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

export class ValidationError extends AppError {
  constructor(readonly errors: readonly FieldError[]) {
    super('validation_error', summary(errors), { details: { errors } });
  }

  static of(field: string, code: string, message: string): ValidationError {
    return new ValidationError([{ field, code, message }]);
  }

  /** For a partial update that updates nothing. */
  static nothingGiven(): ValidationError {
    return ValidationError.of('', 'not_empty', 'At least one field must be given.');
  }
}

function summary(errors: readonly FieldError[]): string {
  const [first] = errors;
  if (!first) return 'The request is not valid.';
  const others = errors.length - 1;
  return others === 0 ? first.message : `${first.message} (and ${others} more)`;
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
