import { AppError } from '../errors/app-error.js';

export interface ErrorBody {
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
