import { HttpException } from '@nestjs/common';
import { isDatabaseUnavailable } from '../database/sqlstate.js';
import { AppError, UnavailableError } from './app-error.js';
import { ERROR_CATALOGUE, type ErrorCode } from './error-catalogue.js';

interface HttpFailure {
  readonly statusCode?: unknown;
}

/** The most general code of each status, for what the framework itself refuses. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'payload_too_large',
  414: 'bad_request',
  415: 'unsupported_media_type',
  422: 'validation_error',
  429: 'rate_limited',
  431: 'bad_request',
  503: 'service_unavailable',
};

/** Whatever was thrown, as what a caller may see of it. Nothing of an unexpected error reaches the caller. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isDatabaseUnavailable(thrown))
    return new UnavailableError('The database is not available.', thrown);
  const code = CODE_OF_STATUS[frameworkStatus(thrown) ?? 0];
  // In our words: the framework's repeat the address, however long it is.
  if (code) return new AppError(code, ERROR_CATALOGUE[code].meaning, { cause: thrown });
  return new AppError('internal_error', 'An unexpected error occurred.', { cause: thrown });
}

function frameworkStatus(thrown: unknown): number | undefined {
  if (thrown instanceof HttpException) return thrown.getStatus();
  const status = (thrown as HttpFailure | null)?.statusCode;
  return typeof status === 'number' && status < 500 ? status : undefined;
}
