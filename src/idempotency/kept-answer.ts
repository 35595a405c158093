import { AppError } from '../common/errors/app-error.js';

/** An answer as it was given: the very text of its body. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Leaves a transaction whose effect has been there before; the interceptor turns it into the answer of that time. */
export class AnsweredBefore extends Error {
  constructor(readonly answer: Answer) {
    super('The request with this Idempotency-Key has been answered before.');
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
