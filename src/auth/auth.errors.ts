import type { AuditAction, AuditSubject } from '../audit/audit-entry.js';
import { type ApprovalLevel, type Role, ROLES } from '../platform/access/roles.js';
import { AppError, type ErrorExtras } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/caller.js';

/** The same error for every reason, so that an attacker does not learn which part of a guess was right. */
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
  /** Target of the attempt if the number of targets is limited; otherwise the subject is the network. */
  readonly subject?: AuditSubject;
  /** Refusals with different reasons are counted separately. */
  readonly details?: { readonly reason: string };
}

/** RefusalFilter writes `refusal` into the audit trail and responds with the error `told`. */
export abstract class StrangerRefusedError extends AppError {
  protected constructor(
    readonly refusal: StrangerRefusal,
    told: AppError,
  ) {
    super(told.code, told.message, told.extras);
  }
}

/** The key or token does not exist. */
export class UnknownKeyError extends StrangerRefusedError {
  constructor(told: UnauthorizedError | TooManyFailuresError) {
    super({ action: 'auth.key_refused' }, told);
  }
}

/** Used both for unknown user names and for wrong current passwords. */
export class AccountThrottledError extends AppError {
  constructor(retryAfterSeconds: number) {
    super(
      'rate_limited',
      'Too many wrong passwords for this user from new addresses. Try again later, or from an address of an earlier login.',
      { headers: { 'retry-after': String(retryAfterSeconds) } },
    );
  }
}

/** @param why the end of a sentence that begins with the field name */
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

/** A logged-in user sends no user name, so the message names only the password. */
export class WrongCurrentPasswordError extends InvalidCredentialsError {
  constructor() {
    super('The current password is wrong.');
  }
}

const FROM_ANOTHER_SITE = 'The request comes from another site, or does not name its origin.';

/** Prevents a page of another site from logging its visitor in or out. */
export class CrossOriginError extends AppError {
  constructor() {
    super('forbidden', FROM_ANOTHER_SITE);
  }
}

/** Audit record of a refused caller. RefusalFilter adds route and address. */
export interface CallerRefusal {
  readonly action: AuditAction;
  readonly actor: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A known caller lacks a permission. RefusalFilter records it in the audit trail. */
export abstract class CallerRefusedError extends AppError {
  protected constructor(
    readonly refusal: CallerRefusal,
    code: AppError['code'],
    message: string,
    extras?: ErrorExtras,
  ) {
    super(code, message, extras);
  }
}

/** `an analyst, a senior, a manager or an admin` */
function inWords(roles: readonly Role[]): string {
  const named = roles.map((role) => `${role.startsWith('a') ? 'an' : 'a'} ${role}`);
  return named.join(', ').replace(/, ([^,]*)$/, ' or $1');
}

export class RoleTooLowError extends CallerRefusedError {
  constructor({ name, role }: Pick<Caller, 'name' | 'role'>, required: Role) {
    super(
      { action: 'auth.role_refused', actor: name, details: { role, required_role: required } },
      'forbidden',
      `Only ${inWords(ROLES.slice(ROLES.indexOf(required)))} may do this.`,
      { details: { required_role: required } },
    );
  }
}

export class InsufficientApprovalLevelError extends CallerRefusedError {
  constructor(
    { name, role }: Pick<Caller, 'name' | 'role'>,
    own: ApprovalLevel,
    required: ApprovalLevel,
  ) {
    super(
      { action: 'auth.level_refused', actor: name, details: { role, required_level: required } },
      'insufficient_approval_level',
      `This needs approval level ${required}; yours is ${own}.`,
      { fields: { required_level: required, your_level: own } },
    );
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

/** Prevents a page of another site from using the session of its visitor. */
export class CrossOriginSessionError extends CallerRefusedError {
  constructor(username: string) {
    super({ action: 'auth.cross_origin_refused', actor: username }, 'forbidden', FROM_ANOTHER_SITE);
  }
}

export class NameTakenError extends AppError {
  constructor(name: string) {
    super('conflict', `The name ${name} is in use, or was used before.`);
  }
}

export class LastAdminError extends AppError {
  constructor() {
    super(
      'invalid_state',
      'This is the last enabled admin. It cannot be deleted, disabled or given another role.',
    );
  }
}
