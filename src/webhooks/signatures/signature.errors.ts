import { StrangerRefusedError, TooManyFailuresError } from '../../auth/auth.errors.js';
import { AppError } from '../../platform/errors/app-error.js';
import { ERROR_CATALOGUE } from '../../platform/errors/error-catalogue.js';
import type { SignatureProblem } from './signature-rules.js';

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
