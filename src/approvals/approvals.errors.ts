import { AppError } from '../platform/errors/app-error.js';

/** What it was for is over: whoever means it all the same says so. */
export class IncidentResolvedError extends AppError {
  constructor() {
    super(
      'invalid_state',
      'The incident of the action is resolved. Send confirm_resolved: true to approve it all the same.',
      { details: { reason: 'incident_resolved' } },
    );
  }
}

export class NotWaitingError extends AppError {
  constructor(message: string) {
    super('invalid_state', message);
  }
}
