import type { Role } from '../platform/access/roles.js';
import { AppError } from '../platform/errors/app-error.js';

/** One error for every reason, so that it tells nothing to whoever guesses. */
export class UnauthorizedError extends AppError {
  constructor(message = 'A valid API key or session is required.') {
    super('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } });
  }
}

export class RoleTooLowError extends AppError {
  constructor(required: Role) {
    super('forbidden', `This needs the role ${required} or one above it.`, {
      details: { required_role: required },
    });
  }
}

export class TooManyFailuresError extends AppError {
  constructor(what: string, retryAfterSeconds: number) {
    super('rate_limited', `Too many ${what} from this address; try again later.`, {
      headers: { 'retry-after': String(retryAfterSeconds) },
    });
  }
}

/** The same for a name that no user has, and for the current password of who is logged in. */
export class AccountThrottledError extends AppError {
  constructor(retryAfterSeconds: number) {
    super(
      'rate_limited',
      'Too many wrong passwords for this user from new addresses; try again later, or from an address that it logged in from before.',
      { headers: { 'retry-after': String(retryAfterSeconds) } },
    );
  }
}

/** @param why continues a sentence that begins with the field's name */
export class WeakPasswordError extends AppError {
  constructor(field: string, why: string) {
    const message = `${field} ${why}.`;
    super('weak_password', message, {
      details: { errors: [{ field, code: 'weak_password', message }] },
    });
  }
}

export class InvalidCredentialsError extends AppError {
  constructor(message = 'The user name or the password is wrong.') {
    super('invalid_credentials', message);
  }
}

/** For who is logged in, and named nobody. */
export class WrongCurrentPasswordError extends InvalidCredentialsError {
  constructor() {
    super('The current password is wrong.');
  }
}

export class CrossOriginError extends AppError {
  constructor() {
    super(
      'forbidden',
      'The request comes from another site, or does not tell that it comes from this one.',
    );
  }
}
