import { StrangerRefusedError, TooManyFailuresError } from '../auth/auth.errors.js';
import { AppError, NotFoundError } from '../platform/errors/app-error.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../platform/errors/error-catalogue.js';
import type { SignatureProblem } from './signatures/signature-rules.js';
import type { Unfit } from './reading/read-events.js';

export type ReceiptProblem = SignatureProblem | 'unknown_source';

/**
 * A receipt that no source has signed. Says nothing beyond the code: whoever guesses does not learn how far the guess
 * came. When the address has sent too many of them, it is told to wait instead.
 */
export class RefusedReceiptError extends StrangerRefusedError {
  constructor(problem: ReceiptProblem, source: string | undefined, retryAfterSeconds?: number) {
    super(
      {
        action: 'webhook.refused',
        subject: { type: 'webhook_source', id: source ?? 'unknown' },
        details: { reason: problem },
      },
      retryAfterSeconds === undefined
        ? new AppError(problem, ERROR_CATALOGUE[problem].meaning)
        : new TooManyFailuresError('refused webhook receipts', retryAfterSeconds),
    );
  }
}

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
  constructor({ why: message, hint }: Unfit, eventId: string) {
    super('validation_error', message, {
      details: {
        errors: [{ field: '', code: 'unknown_format', message }],
        event_id: eventId,
        hint,
      },
    });
  }
}

export const NOT_STORED = 'It could not be stored: the log has the cause.';
export const NO_SOURCE = 'Its source is no longer registered.';

export class WebhookSourceNotFoundError extends NotFoundError {
  constructor() {
    super('Webhook source');
  }
}

export class WebhookSourceTakenError extends AppError {
  constructor(source: string) {
    super('conflict', `There is a webhook source ${source} already.`);
  }
}
