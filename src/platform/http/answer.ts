import { AppError } from '../errors/app-error.js';

export const JSON_UTF8 = 'application/json; charset=utf-8';

/** An answer, to the letter. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Thrown when the request has its answer already, so that its handler must not run or its transaction not commit. */
export abstract class AnswerInstead extends Error {
  constructor(
    message: string,
    readonly answer: Answer,
    readonly headers: Readonly<Record<string, string>>,
  ) {
    super(message);
  }
}

interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly request_id: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
}

/** The one envelope in which every error leaves the service. */
export function errorBody(error: AppError, requestId: string): ErrorBody {
  const { details, fields } = error.extras;
  return {
    error: {
      code: error.code,
      message: error.message,
      request_id: requestId,
      ...fields,
      details,
    },
  };
}
