import { AppError } from '../../platform/errors/app-error.js';
import type { ErrorCode } from '../../platform/errors/error-catalogue.js';

/** How a receipt may be refused. */
export const RECEIPT_REFUSALS = [
  'unknown_source',
  'payload_too_large',
  'invalid_signature',
  'timestamp_expired',
  'rate_limited',
  'bad_request',
  'validation_error',
  'service_unavailable',
] as const satisfies ErrorCode[];

/** The body is kept as a failed event, so that the analyst sees it and may try it again. */
export class UnknownFormatError extends AppError {
  constructor(message: string, eventId: string) {
    super('validation_error', message, {
      details: {
        errors: [{ field: '', code: 'unknown_format', message }],
        event_id: eventId,
      },
    });
  }
}

export const NOT_STORED = 'It could not be stored: the log has the cause.';
export const NO_SOURCE = 'Its source is no longer registered.';
