import type { AuditAction, AuditSubject } from '../audit/audit-entry.js';
import { AppError, type ErrorExtras } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/request.js';

/** Gives no reason, so that an attacker does not learn which part of a guess was right. */
export class UnauthorizedError extends AppError {
  constructor(message = 'A valid API key or session is required.') {
    super('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } });
  }
}

export class TooManyFailuresError extends AppError {
  constructor(what: string, retryAfterSeconds: number) {
    super('rate_limited', `Too many ${what} from this address; try again later.`, {
      headers: { 'retry-after': String(retryAfterSeconds) },
    });
  }
}

/** Audit record of an unknown caller. RefusalFilter adds the network. */
export interface StrangerRefusal {
  readonly action: AuditAction;
  /** Known target of the attempt. Without a known target, the subject of the record is the network. */
  readonly subject?: AuditSubject;
  readonly details?: { readonly reason: string };
}

/** RefusalFilter writes `refusal` into the audit trail and responds with the error `told`. */
export class StrangerRefusedError extends AppError {
  constructor(
    readonly refusal: StrangerRefusal,
    told: AppError,
  ) {
    super(told.code, told.message, told.extras);
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

export const FROM_ANOTHER_SITE =
  'The request comes from another site, or does not name its origin.';

/** Audit record of a refused caller. RefusalFilter adds route and address. */
export interface CallerRefusal {
  readonly action: AuditAction;
  readonly actor: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A known caller lacks a permission. RefusalFilter records it in the audit trail. */
export class CallerRefusedError extends AppError {
  constructor(
    readonly refusal: CallerRefusal,
    code: AppError['code'],
    message: string,
    extras?: ErrorExtras,
  ) {
    super(code, message, extras);
  }
}

/** Four-eyes check: a user and the keys of that user are one person. */
export class OwnRequestError extends CallerRefusedError {
  constructor({ name }: Pick<Caller, 'name'>) {
    super(
      { action: 'auth.own_request_refused', actor: name },
      'forbidden',
      'Nobody may approve their own request.',
    );
  }
}

export class NameTakenError extends AppError {
  constructor(name: string) {
    super('conflict', `The name ${name} is in use, or was used before.`);
  }
}
