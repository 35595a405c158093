import type { AuditAction, AuditSubject } from '../audit/audit-entry.js';
import { AppError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/request.js';

/** Gives no reason, so that an attacker does not learn which part of the credentials was right. */
export class UnauthorizedError extends AppError {
  constructor(message = 'A valid API key or session is required.') {
    super('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } });
  }
}

/** @param why end of the message, which begins with the field name */
export class WeakPasswordError extends AppError {
  constructor(field: string, why: string) {
    const message = `${field} ${why}.`;
    super('weak_password', message, {
      details: { errors: [{ field, code: 'weak_password', message }] },
    });
  }
}

export class InvalidCredentialsError extends AppError {
  constructor(what = 'The user name or the password') {
    super('invalid_credentials', `${what} is wrong.`);
  }
}

export class NameTakenError extends AppError {
  constructor(name: string) {
    super('conflict', `The name ${name} is in use, or was used before.`);
  }
}

export class OtherSiteError extends AppError {
  constructor() {
    super('forbidden', 'The request comes from another site, or does not name its origin.');
  }
}

export interface Refusal {
  readonly action: AuditAction;
  /** Name of the caller. `undefined` for an unknown caller: the audit record then shows only the network. */
  readonly actor?: string;
  readonly subject?: AuditSubject;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** RefusalFilter writes `refusal` into the audit trail and sends the error `told` to the caller. */
export class RefusedError extends AppError {
  constructor(
    readonly refusal: Refusal,
    told: AppError,
  ) {
    super(told.code, told.message, told.extras);
  }
}

export class OwnRequestError extends RefusedError {
  constructor({ name }: Pick<Caller, 'name'>) {
    super(
      { action: 'auth.own_request_refused', actor: name },
      new AppError('forbidden', 'Nobody may approve their own request.'),
    );
  }
}
