import { AppError } from '../../platform/errors/app-error.js';

export class UsernameTakenError extends AppError {
  constructor(username: string) {
    super('conflict', `The name ${username} is or was in use.`);
  }
}

export class LastAdminError extends AppError {
  constructor() {
    super(
      'invalid_state',
      'This is the last enabled admin: it cannot be deleted, disabled or given another role.',
    );
  }
}
