import { shownStart } from '../text.js';
import { ERROR_CATALOGUE, type ErrorCode, meaningOf, statusOf } from './error-catalogue.js';
import { HttpException } from '@nestjs/common';
import { isDatabaseUnavailable } from '../database/sqlstate.js';

export interface ErrorExtras {
  readonly details?: Readonly<Record<string, unknown>>;
  /** Additional fields of the error object, next to `code`. Use them only where the specification requires them. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

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
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

export function unknownField(field: string, kind: 'field' | 'query parameter'): FieldError {
  return { field, code: 'unknown_field', message: `${field} is not a known ${kind}.` };
}

/** Maximum number of reported errors, so that a hostile request cannot cause a much larger response. */
export const MOST_ERRORS = 100;
const LONGEST_FIELD = 500;
const LONGEST_MESSAGE = 1_000;

export class ValidationError extends AppError {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    const told = errors.slice(0, MOST_ERRORS).map(({ field, code, message }) => ({
      field: shownStart(field, LONGEST_FIELD),
      code,
      message: shownStart(message, LONGEST_MESSAGE),
    }));
    super('validation_error', summary(told, errors.length), { details: { errors: told } });
    this.errors = told;
  }

  static of(field: string, code: string, message: string): ValidationError {
    return new ValidationError([{ field, code, message }]);
  }

  static nothingGiven(): ValidationError {
    return ValidationError.of('', 'not_empty', 'At least one field must be given.');
  }
}

function summary([first]: readonly FieldError[], count: number): string {
  if (!first) return 'The request is not valid.';
  return count === 1 ? first.message : `${first.message} (and ${count - 1} more)`;
}

/** @param resource the name that people use: 'Incident', 'Webhook source' */
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

function codeOf(status: number): ErrorCode | undefined {
  if (status === 414 || status === 431) return 'bad_request';
  const codes = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
  return codes.find((code) => statusOf(code) === status);
}

/** Converts any thrown value to an error for the caller. Unexpected errors reveal no details. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isDatabaseUnavailable(thrown))
    return new UnavailableError('The database is not available.', thrown);
  const code = codeOf(frameworkStatus(thrown) ?? 500) ?? 'internal_error';
  const isUnexpected = code === 'internal_error';
  // Omits the message of the framework, because it repeats the whole URL.
  const message = isUnexpected ? 'An unexpected error occurred.' : meaningOf(code);
  return new AppError(code, message, { cause: thrown });
}

function frameworkStatus(thrown: unknown): number | undefined {
  if (thrown instanceof HttpException) return thrown.getStatus();
  const status = (thrown as { readonly statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' && status < 500 ? status : undefined;
}
