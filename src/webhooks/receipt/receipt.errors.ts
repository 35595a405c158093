import { AppError } from '../../platform/errors/app-error.js';
import type { EventFormatName } from '../sources/webhook-source.js';

/** The body is kept as a failed event, so that the analyst sees it and may try it again. */
export class UnknownFormatError extends AppError {
  constructor(format: EventFormatName, eventId: string) {
    const message = wordsOf(format);
    super('validation_error', message, {
      details: {
        errors: [{ field: '', code: 'unknown_format', message }],
        event_id: eventId,
      },
    });
  }
}

/** Why an event of the source could not be read, as the inbox shows it. */
export function wordsOf(format: EventFormatName): string {
  if (format === 'auto') return 'The body fits no known format.';
  if (format === 'mapping') return "The source's mapping finds no event in the body.";
  return `The body has not the marks of the format ${format}.`;
}

export const NOT_STORED = 'It could not be stored: the log has the cause.';
export const NO_SOURCE = 'Its source is no longer registered.';
