import { AppError } from '../common/errors/app-error.js';

export class OwnRequestError extends AppError {
  constructor() {
    super('forbidden', 'Nobody may approve what they requested themselves.');
  }
}

export class NotWaitingError extends AppError {
  constructor(message: string) {
    super('invalid_state', message);
  }
}
