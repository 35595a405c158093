import { AppError } from '../../platform/errors/app-error.js';
import { unfitWords } from '../reading/read-events.js';
import type { EventFormatName } from '../sources/webhook-source.js';

/** The body is kept as a failed event, so that the analyst sees it and may try it again. */
export class UnknownFormatError extends AppError {
  constructor(format: EventFormatName, eventId: string) {
    const message = unfitWords(format);
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
