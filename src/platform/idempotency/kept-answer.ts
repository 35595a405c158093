import { AppError } from '../errors/app-error.js';
import { type Answer, AnswerInstead } from '../http/answer-instead.js';

/** Leaves a transaction whose effect has been there before. */
export class AnsweredBefore extends AnswerInstead {
  constructor(answer: Answer) {
    super('The request with this Idempotency-Key has been answered before.', answer, {
      'idempotency-replayed': 'true',
    });
  }
}

export function underWay(): AppError {
  return new AppError('conflict', 'A request with this Idempotency-Key is still under way.', {
    headers: { 'retry-after': '1' },
  });
}

export function reused(): AppError {
  return new AppError(
    'idempotency_key_reused',
    'This Idempotency-Key was used for another request within the last 24 hours.',
  );
}
